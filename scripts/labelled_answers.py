"""Wrong answers with known faulty lines: each differs from a right answer in these lines.

Two sources. `answers`: answers of tests/answers that differ from a right answer of the same exercise in at most
MAX_LINES lines. `bank`: known mistakes that are edits of the reference, applied to the reference and to the right
variants of solutions/NN_name/variants.py in which the edited piece occurs too.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from grader.authoring.bank import KnownAnswer, apply
from grader.authoring.content import Assignment, read_all
from grader.authoring.observe import definitions
from grader.authoring.reference_edit import EditError

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from helpers.answers import ANSWERS  # noqa: E402 (tests/ must be on the path first)

MAX_LINES = 2


@dataclass(frozen=True)
class Labelled:
    """One wrong answer.

    statements: the first lines of the statements that differ. If a line is missing, the statements before and after
    it count.
    """

    name: str
    source_kind: str  # "answers" or "bank"
    exercise: str
    source: str
    statements: frozenset[int]

    @property
    def held_out(self) -> bool:
        """Whether the answer is in the third that was not used while the edits in grader/lines/ were written."""
        return hashlib.sha256(self.name.encode()).digest()[0] % 3 == 0


def labelled_answers() -> list[Labelled]:
    """Return every labelled answer, in a fixed order."""
    return [*_independent(), *_from_bank()]


def _independent() -> Iterator[Labelled]:
    for answer in ANSWERS:
        if answer.name.startswith("wrong_"):
            rights = [a for a in ANSWERS if a.exercise == answer.exercise and a.name.startswith("right_")]
            pairs = [_difference(answer.source, right.source) for right in rights]
            lines, faulty = min(pairs, key=lambda pair: pair[0], default=(MAX_LINES + 1, frozenset()))
            if 0 < lines <= MAX_LINES:
                yield Labelled(answer.id, "answers", answer.exercise, answer.source, faulty)


def _from_bank() -> Iterator[Labelled]:
    for content in read_all(ROOT / "solutions"):
        seen: set[str] = set()
        rights = {e["name"]: list(_right_forms(content, e["name"])) for e in content.exercises}
        for mistake in content.mistakes():
            if mistake.kind != "mistake" or not mistake.edits:
                continue
            for form, right in rights[mistake.of]:
                wrong = _applied(mistake, right, exactly=form == "reference")
                if wrong and wrong not in seen:
                    seen.add(wrong)
                    statements = _difference(wrong, right)[1]
                    name = f"{mistake.of}/{mistake.id}/{form}"
                    yield Labelled(name, "bank", mistake.of, wrong, statements)


def _right_forms(content: Assignment, exercise: str) -> list[tuple[str, str]]:
    """Return the name and the source of the reference and of each right variant, without lesson and demos."""
    plain = definitions(content.source)
    same = [v for v in content.variants(exercise) if v.kind in ("same", "also")]
    return [("reference", plain), *((v.id, apply(v, plain)) for v in same)]


def _applied(mistake: KnownAnswer, right: str, *, exactly: bool) -> str:
    """Return the source with the mistake; "" if its edits do not match.

    exactly: whether an edit must match exactly as often as it says.
    """
    try:
        wrong = apply(mistake, right, exactly=exactly)
        ast.parse(wrong)
    except (EditError, SyntaxError):
        return ""
    return wrong


def _difference(wrong: str, right: str) -> tuple[int, frozenset[int]]:
    """Return the number of lines that differ, and the first lines of their statements in `wrong`."""
    mine, theirs = _code(wrong), _code(right)
    texts = ([text for _n, text in mine], [text for _n, text in theirs])
    # Without the equal lines at the start, which the matcher might align with later ones.
    head = next((i for i, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), 0)
    matcher = SequenceMatcher(None, texts[0][head:], texts[1][head:], autojunk=False)
    count, lines = 0, set()
    for tag, start, stop, first, last in matcher.get_opcodes():
        if tag == "equal":
            continue
        start, stop = start + head, stop + head
        count += max(stop - start, last - first)
        if start == stop:  # a missing line: the lines before and after it
            lines |= {mine[i][0] for i in (start - 1, start) if 0 <= i < len(mine)}
        lines |= {mine[i][0] for i in range(start, stop)}
    return count, frozenset(statement_of(wrong, line) for line in lines)


def _code(source: str) -> list[tuple[int, str]]:
    """Return the lines of a source with their numbers, without comments and blank lines."""
    lines = [(n, text.split("  #")[0].rstrip()) for n, text in enumerate(source.splitlines(), 1)]
    return [(n, text) for n, text in lines if text.strip() and not text.lstrip().startswith("#")]


def statement_of(source: str, line: int) -> int:
    """Return the first line of the innermost statement that contains a line."""
    holding = [
        n
        for n in ast.walk(ast.parse(source))
        if isinstance(n, ast.stmt) and n.lineno <= line <= (n.end_lineno or 0)
    ]
    return max((n.lineno for n in holding), default=line)


def statements(source: str) -> list[int]:
    """Return the first lines of all statements, in order."""
    return sorted({n.lineno for n in ast.walk(ast.parse(source)) if isinstance(n, ast.stmt)})
