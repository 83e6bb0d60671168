"""Messages at levels 0 to 2 contain neither code nor parts of the reference's formula.

The level says how much a diagnosis may say: 0 facts, 1 the mistake, 2 a question, 3 a page.
"""

import ast
import runpy
import shutil
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.command_line import ROOT

from grader.authoring.content import Assignment, read_all
from grader.authoring.verify import code_in
from grader.report.sentences import ROWS
from grader.support.code import BEGIN, END
from grader.worker.steps import Stages

ASSIGNMENTS = read_all(ROOT / "solutions")
# The modules with messages about values (level 0). Titles of cases belong to level 0 too.
OF_THE_CODE = sorted(
    path
    for package in ("diagnosis", "judge", "report")
    for path in (ROOT / "grader" / package).glob("*.py")
    if path.name != "ci.py"  # names a variable of the environment, ${name}
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
    # Sentences about a file that did not run may show the signature that the stub has.
    late = {rule: row for rule, row in ROWS.items() if not row.early}
    out |= {text: rule for rule, row in late.items() for text in (*row.shown, *row.hidden)}
    for assignment in ASSIGNMENTS:
        out |= {text: m.id for m in assignment.mistakes() for text in (m.says, m.asks)}
        for exercise in assignment.exercises:
            name = exercise.name
            out |= dict.fromkeys((exercise.title, *exercise.hints), name)
            for case in assignment.cases(name, "public"):
                stages = [stage.title for s in case.steps if isinstance(s, Stages) for stage in s.of]
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


@pytest.mark.slow
def test_no_text_contains_code_or_the_formula():
    texts = of_the_code()
    assert len(texts) >= 1500
    assert len(FORMULAS) >= 200
    assert {whose: found for text, whose in texts.items() if (found := gives_away(text))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "your keys come out of self.W_q",
        "the scores lack a division by `math.sqrt(d)`",
        "write queries @ keys.transpose(1, 2)",
        "what is missing is $QK^T$",
        "try X.masked_fill(~keep, value) there",
        "the mask belongs to mask[:, None]",
        "it is X + Y that wants the norm: self.ln(self.dropout(Y) + X)",
        "die Schritte sind steps[None, :] < valid_len[:, None]",
    ],
)
def test_code_and_formulas_are_found(text):
    assert gives_away(text)


def test_messages_come_from_the_catalogue_beside_the_code(tmp_path, monkeypatch):
    """A text without a translation is shown in English. Format: GNU gettext manual, "The Format of GNU MO Files"."""
    rows = [(b"", b"Content-Type: text/plain; charset=UTF-8\n"), (b"yes", "jawohl, schön".encode())]
    body, tables = b"", []
    for texts in zip(*rows, strict=True):
        for text in texts:
            tables += [len(text), 28 + 16 * len(rows) + len(body)]
            body += text + b"\0"
    head = struct.pack("<7I", 0x950412DE, 0, len(rows), 28, 28 + 8 * len(rows), 0, 0)
    folder = tmp_path / "locale" / "xx" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    (folder / "headway.mo").write_bytes(head + struct.pack(f"<{len(tables)}I", *tables) + body)
    (tmp_path / "support").mkdir()
    copy = shutil.copy(ROOT / "grader" / "support" / "i18n.py", tmp_path / "support" / "i18n.py")
    monkeypatch.setenv("LANGUAGE", "xx")
    say = runpy.run_path(copy)["_"]
    assert (say("yes"), say("no")) == ("jawohl, schön", "no")
