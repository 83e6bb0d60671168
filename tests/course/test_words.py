"""Messages at levels 0 to 2 contain neither code nor parts of the reference's formula, in any language.

The level says how much a diagnosis may say: 0 facts, 1 the mistake, 2 a question, 3 a page.
"""

from __future__ import annotations

import ast
import gettext
import re
import runpy
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from grader.authoring.code_in_text import code_in
from grader.authoring.content import Assignment, read_all
from grader.support.code import BEGIN, END

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENTS = read_all(ROOT / "solutions")
LOCALE = ROOT / "grader" / "locale"
# The modules with messages about values (level 0). Titles of cases belong to level 0 too.
OF_THE_CODE = sorted(
    p for package in ("diagnosis", "judge") for p in (ROOT / "grader" / package).glob("*.py")
)


def messages(path: Path) -> Iterator[str]:
    """Yield the sentences of a module that go through gettext."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("_", "ngettext"):
            for part in (leaf for argument in node.args for leaf in ast.walk(argument)):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    yield part.value


def of_the_code() -> dict[str, str]:
    """Return every English text of the levels 0 to 2 → where it comes from."""
    out = {text: path.name for path in OF_THE_CODE for text in messages(path)}
    for assignment in ASSIGNMENTS:
        out |= {text: m.id for m in assignment.mistakes() for text in (m.says, m.asks)}
        for exercise in assignment.exercises:
            name = exercise["name"]
            out |= dict.fromkeys((exercise["title"], *exercise["hints"]), name)
            for case in assignment.cases(name, "public"):
                stages = [title for s in case.steps if s["do"] == "stages" for _path, title in s["of"]]
                says = [p for c in case.checks for p in c.params.values() if isinstance(p, str)]
                out |= dict.fromkeys((*stages, *says, *(c.title for c in case.checks)), f"{name}, {case.id}")
    return out


def formulas(assignment: Assignment) -> set[str]:
    """Return the expressions of the reference solution, without spaces."""
    solved, inside = False, set()
    for number, line in enumerate(assignment.source.splitlines(), 1):
        solved = (solved or BEGIN in line) and END not in line
        if solved:
            inside.add(number)
    kinds = (ast.BinOp, ast.Compare, ast.Call, ast.Subscript)
    nodes = [n for n in ast.walk(ast.parse(assignment.source)) if isinstance(n, kinds) and n.lineno in inside]
    return {text for node in nodes if len(text := "".join(ast.unparse(node).split())) >= 4}


FORMULAS = {formula for assignment in ASSIGNMENTS for formula in formulas(assignment)}


def gives_away(text: str) -> str:
    """Return the code or the formula that a text contains; "" if there is none."""
    if code := code_in(text):
        return code
    without_spaces = "".join(text.split())
    return next((formula for formula in FORMULAS if formula in without_spaces), "")


def entries(catalogue: Path) -> Mapping[str, str]:
    """Return English → translation, from a compiled catalogue or from its source."""
    if catalogue.suffix == ".mo":
        with catalogue.open("rb") as file:
            known = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
        return {k if isinstance(k, str) else k[0]: v for k, v in known.items() if k}
    pairs: dict[str, str] = {}
    here = ["", ""]
    place = 0  # 0: the English text, 1: its translation, 2: a plural, which is skipped
    end = 'msgid ""'  # the line that ends the last entry
    for line in [*catalogue.read_text("utf-8").splitlines(), end]:
        if line.startswith("#"):
            continue
        if line.startswith("msgid "):
            if here[0]:
                pairs[here[0]] = here[1]
            here, place = ["", ""], 0
        elif line.startswith("msgid_plural "):
            place = 2
        elif line.startswith("msgstr"):
            place = 1
        quoted = re.search(r'"(.*)"\s*$', line)
        if quoted and place < 2:
            here[place] += ast.literal_eval(f'"{quoted[1]}"')
    return pairs


def leaks(locale: Path) -> dict[str, str]:
    """Return language and English text → the code or formula in the translation.

    A text without a translation is shown in English; `test_no_text_contains_code_or_the_formula` checks that.
    """
    known, out = of_the_code(), {}
    for catalogue in sorted(p for end in ("mo", "po") for p in locale.glob(f"*/LC_MESSAGES/headway.{end}")):
        translated = entries(catalogue)
        language = f"{catalogue.parts[-3]} ({catalogue.suffix[1:]})"
        out |= {
            f"{language}: {text}": found
            for text in known
            if (found := gives_away(translated.get(text) or ""))
        }
    return out


def test_no_text_contains_code_or_the_formula():
    texts = of_the_code()
    assert len(texts) >= 1500
    assert len(FORMULAS) >= 200
    assert {whose: found for text, whose in texts.items() if (found := gives_away(text))} == {}


def test_no_translation_contains_code_or_the_formula():
    assert leaks(LOCALE) == {}


@pytest.mark.parametrize(
    "text",
    [
        "your keys come out of self.W_q",
        "the scores lack a division by `math.sqrt(d)`",
        "write queries @ keys.transpose(1, 2)",
        "what is missing is $QK^T$",
        "try X.masked_fill(~keep, value) there",
        "look at scores.masked_fill(~keep, -1)",
        "the mask belongs to mask[:, None]",
        "it is X + Y that wants the norm: self.ln(self.dropout(Y) + X)",
        "die Schritte sind steps[None, :] < valid_len[:, None]",
    ],
)
def test_code_and_formulas_are_found(text):
    assert gives_away(text)


ENGLISH = "correct without a mask, wrong with a mask"  # a message of level 0
SAYS = next(m.says for a in ASSIGNMENTS for m in a.mistakes() if m.id == "dot-not-scaled")


def compiled(pairs: Mapping[str, str]) -> bytes:
    """Return a compiled catalogue (GNU gettext manual, "The Format of GNU MO Files")."""
    rows = sorted({"": "Content-Type: text/plain; charset=UTF-8\n", **pairs}.items())
    keys, values = ([text.encode() for text in column] for column in zip(*rows, strict=True))
    at, tables, body = 28 + 16 * len(rows), [], b""
    for texts in (keys, values):
        for text in texts:
            tables.append(struct.pack("<II", len(text), at + len(body)))
            body += text + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(rows), 28, 28 + 8 * len(rows), 0, 0)
    return head + b"".join(tables) + body


def written(folder: Path, pairs: Mapping[str, str], kind: str) -> Path:
    """Write a locale with one language, as source or compiled. Return its folder."""
    place = folder / "locale" / "xx" / "LC_MESSAGES"
    place.mkdir(parents=True)
    if kind == "mo":
        (place / "headway.mo").write_bytes(compiled(pairs))
    else:
        quoted = "\n".join(f'\nmsgid "{k}"\nmsgstr ""\n"{v[:9]}"\n"{v[9:]}"' for k, v in pairs.items())
        (place / "headway.po").write_text(
            f'msgid ""\nmsgstr ""\n"Content-Type: text/plain"\n{quoted}\n', "utf-8"
        )
    return folder / "locale"


@pytest.mark.parametrize("kind", ["mo", "po"])
def test_every_text_of_a_translation_is_checked(tmp_path, kind):
    """A language with two harmless texts passes; one that gives the answer away in two texts does not."""
    right = written(tmp_path / "right", {ENGLISH: "ohne Maske stimmt es", SAYS: "die Teilung fehlt"}, kind)
    assert leaks(right) == {}
    pairs = {ENGLISH: "nimm torch.softmax", SAYS: "es fehlt math.sqrt", "not of a level": "self.W_q"}
    assert set(leaks(written(tmp_path / "wrong", pairs, kind))) == {
        f"xx ({kind}): {t}" for t in (ENGLISH, SAYS)
    }


def test_messages_come_from_the_folder_of_checked_catalogues(tmp_path, monkeypatch):
    """Messages come from the folder beside the code; a text without a translation is shown in English."""
    written(tmp_path, {ENGLISH: "ohne Maske stimmt es"}, "mo")
    (tmp_path / "support").mkdir()
    (tmp_path / "support" / "i18n.py").write_text(
        (ROOT / "grader" / "support" / "i18n.py").read_text("utf-8"), "utf-8"
    )
    monkeypatch.setenv("LANGUAGE", "xx")
    say = runpy.run_path(str(tmp_path / "support" / "i18n.py"))["_"]
    assert say(ENGLISH) == "ohne Maske stimmt es"
    assert say(SAYS) == SAYS
