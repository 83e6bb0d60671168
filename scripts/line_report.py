"""Measure how often the grader points to the right line, on wrong answers whose right form is known.

    python scripts/line_report.py [--limit N] [--rows FILE]

An answer is labelled if its right form is known: the lines in which both differ are faulty. Two sources. `answers`:
answers of tests/answers that differ from a right answer of the same exercise in at most MAX_LINES lines. `bank`: known
mistakes that are edits of the reference, applied to it and to the right variants in which the edited piece occurs too.

Answers come in a fixed order that looks random, so the first N are a sample. Each row is written as it is measured;
a second run with the same file goes on where the first one ended. Prints the table of docs/lines.md.
"""

from __future__ import annotations

import ast
import hashlib
import json
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from shared import ANSWERS, ROOT, course_engine, parser, submission_of

from grader.authoring.bank import KnownAnswer, apply
from grader.authoring.content import Assignment, read_all
from grader.engine.engine import Engine
from grader.lines.find import Source, may_have_lines, point, search
from grader.lines.search import Budget
from grader.support.code import definitions
from grader.support.errors import UsageError

MAX_LINES = 2
LIMIT = 1.25  # CPU seconds; the budget (`Budget.cpu`, 1.3) has probably stopped a search that took longer
FAR = 99  # statements; the distance if no faulty statement is known
WALL = 30.0  # seconds of the clock; so long that only the budget of CPU time ends a search


# ---- wrong answers with known faulty lines


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
        rights = {e.name: list(_right_forms(content, e.name)) for e in content.exercises}
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
    except (UsageError, SyntaxError):
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


# ---- what the grader points to


def measured(doc: str, answers: list[Labelled], row: Callable[[Engine, Labelled], dict]) -> list[dict]:
    """Read the options of a script, and return a row per answer of the sample. Rows of the file are not measured again.

    Answers of tests/answers and mistakes of the bank come in turn, each kind ordered by a hash of the name, until one
    kind runs out.
    """
    options = parser(doc)
    options.add_argument("--limit", type=int, default=600)
    options.add_argument("--rows", type=Path, default=Path("rows.jsonl"))
    chosen = options.parse_args()
    answers = sorted(answers, key=lambda a: hashlib.sha256(f"order {a.name}".encode()).hexdigest())
    kinds = [[a for a in answers if a.source_kind == kind] for kind in ("answers", "bank")]
    texts = chosen.rows.read_text("utf-8").splitlines() if chosen.rows.exists() else []
    known = {one["name"]: one for one in map(json.loads, texts)}
    sample = [answer for pair in zip(*kinds, strict=False) for answer in pair][: chosen.limit]
    with course_engine() as engine, chosen.rows.open("a", encoding="utf-8") as out:
        for answer in sample:
            if answer.name not in known:
                known[answer.name] = row(engine, answer)
                print(json.dumps(known[answer.name]), file=out, flush=True)
    return [known[answer.name] for answer in sample]


def _row(engine: Engine, answer: Labelled) -> dict:
    submission = submission_of(answer.source)
    result = engine.grade(submission, [answer.exercise]).exercises[0]
    row = {"name": answer.name, "kind": answer.source_kind, "held_out": answer.held_out}
    if not may_have_lines(engine, result):
        return {**row, "outcome": result.outcome, "level": engine.exercises[answer.exercise].level}
    found = search(engine, Source(submission), result, Budget(wall=WALL))
    named = bool(result.diagnosis.alternatives)
    pointed = point(found, detail=False)
    lines = [(line.certainty, _distance(answer, line.line)) for line in pointed]
    return {
        **row,
        "outcome": "failed",
        "named": named,
        "repairs": [repair.kind for repair in found.repairs],
        "lines": lines,
        "cpu": found.seconds,
    }


def _distance(answer: Labelled, line: int) -> int:
    """Return how many statements a line is away from the nearest faulty statement; 0: it is in that statement."""
    order, mine = statements(answer.source), statement_of(answer.source, line)
    return min(
        (abs(order.index(mine) - order.index(s)) for s in answer.statements if s in order), default=FAR
    )


def report(rows: list[dict]) -> str:
    """Return a table with a row per measure, and a column for all answers and for each group of them."""
    searched = [row for row in rows if row["outcome"] == "failed" and "lines" in row]
    groups = {
        "all": searched,
        "held out": [r for r in searched if r["held_out"]],
        "not held out": [r for r in searched if not r["held_out"]],
        "independent answers": [r for r in searched if r["kind"] == "answers"],
        "mistakes of the bank": [r for r in searched if r["kind"] == "bank"],
        "… not in the reference": [
            r for r in searched if r["kind"] == "bank" and not r["name"].endswith("/reference")
        ],
        "named": [r for r in searched if r["named"]],
        "not named": [r for r in searched if not r["named"]],
    }
    out = ["| | " + " | ".join(groups) + " |", "|---" * (len(groups) + 1) + "|"]
    for title, of in MEASURES.items():
        cells = [of(group) if group else "–" for group in groups.values()]
        out.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join([*out, "", f"{len(rows) - len(searched)} answers were not searched."])


def _sure(rows: list[dict]) -> list[dict]:
    """Return the rows with a certified line: an edit of it passes."""
    return [row for row in rows if row["lines"] and row["lines"][0][0] == "repaired"]


def _near(rows: list[dict], distance: int) -> int:
    """Count the rows whose first line is at most `distance` statements away from a faulty one."""
    return sum(row["lines"][0][1] <= distance for row in rows if row["lines"])


def _share(count: int, of: int) -> str:
    return f"{count} of {of} ({100 * count / of:.0f} %)" if of else "–"


MEASURES = {
    "answers": lambda rows: str(len(rows)),
    "an edit passes in the search": lambda rows: _share(sum(bool(r["repairs"]) for r in rows), len(rows)),
    "one certified line": lambda rows: _share(len(_sure(rows)), len(rows)),
    "… in the faulty statement": lambda rows: _share(_near(_sure(rows), 0), len(_sure(rows))),
    "… there or in the statement beside it": lambda rows: _share(_near(_sure(rows), 1), len(_sure(rows))),
    "first line right, of all": lambda rows: _share(_near(rows, 0), len(rows)),
    "right line among the first three, of all": lambda rows: _share(
        sum(any(d == 0 for _c, d in r["lines"]) for r in rows), len(rows)
    ),
    "not certified: the time was over": lambda rows: _share(
        sum(r["cpu"] > LIMIT for r in rows if r not in _sure(rows)), len(rows) - len(_sure(rows))
    ),
    "CPU seconds: median": lambda rows: f"{statistics.median(r['cpu'] for r in rows):.2f}",
    "CPU seconds: most": lambda rows: f"{max(r['cpu'] for r in rows):.2f}",
}


if __name__ == "__main__":
    print(report(measured(__doc__, [*_independent(), *_from_bank()], _row)))
