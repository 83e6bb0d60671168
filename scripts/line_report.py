"""Measure how often the grader points to the right line, on wrong answers whose right form is known.

    python scripts/line_report.py [--limit N] [--rows FILE]

Answers come in a fixed order that looks random, so the first N are a sample. Each row is written as it is measured;
a second run with the same file goes on where the first one ended. Prints the table of docs/lines.md.
`--part 1/2` measures every second answer, so that two runs can share the work.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
from pathlib import Path

from labelled_answers import ANSWERS, ROOT, Labelled, labelled_answers, statement_of, statements

from grader.bundle.files import load_all
from grader.engine.engine import Engine
from grader.engine.grading_options import GradingOptions
from grader.intake.read import Submission, Unit
from grader.lines.find import Source, may_have_lines, search
from grader.lines.pointer import point
from grader.lines.search import Budget
from grader.sandbox.choose import choose

LIMIT = 1.25  # CPU seconds; the budget (`Budget.cpu`, 1.3) has probably stopped a search that took longer
FAR = 99  # statements; the distance if no faulty statement is known
# Independent answer → the known mistakes that it equals.
EQUALS = {a.id: frozenset[str]().union(*a.equals or ()) for a in ANSWERS}
WALL = 30.0  # seconds of the clock; so long that only the budget of CPU time ends a search


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("--rows", type=Path, default=Path("line_rows.jsonl"))
    parser.add_argument("--part", default="1/1")
    chosen = parser.parse_args()
    part, parts = map(int, chosen.part.split("/"))
    answers = sample(labelled_answers(), chosen.limit)[part - 1 :: parts]
    print(report(measure(answers, chosen.rows)))


def sample(answers: list[Labelled], limit: int) -> list[Labelled]:
    """Return answers of tests/answers and mistakes of the bank in turn, until one kind runs out.

    Each kind is ordered by a hash of the name.
    """
    kinds = [
        sorted((a for a in answers if a.source_kind == kind), key=_place) for kind in ("answers", "bank")
    ]
    return [answer for pair in zip(*kinds, strict=False) for answer in pair][:limit]


def _place(answer: Labelled) -> str:
    return hashlib.sha256(f"order {answer.name}".encode()).hexdigest()


def measure(answers: list[Labelled], rows: Path) -> list[dict]:
    """Return one row per answer. Rows that are in the file are not measured again."""
    known = {}
    if rows.exists():
        known = {row["name"]: row for row in map(json.loads, rows.read_text("utf-8").splitlines())}
    launcher = choose(warm="full")
    engine = Engine(load_all(ROOT / "assignments"), launcher, GradingOptions(quick=True))
    try:
        for answer in answers:
            if answer.name not in known:
                known[answer.name] = _row(engine, answer)
                with rows.open("a", encoding="utf-8") as out:
                    out.write(json.dumps(known[answer.name]) + "\n")
    finally:
        engine.close()
        launcher.close()
    return [known[answer.name] for answer in answers]


def _row(engine: Engine, answer: Labelled) -> dict:
    submission = Submission(Path("answer.py"), (Unit("answer.py", answer.source),))
    result = engine.grade(submission, [answer.exercise]).exercises[0]
    row = {"name": answer.name, "kind": answer.source_kind, "held_out": answer.held_out}
    if not may_have_lines(engine, result):
        return {**row, "outcome": result.outcome, "level": engine.exercises[answer.exercise].level}
    found = search(engine, Source(submission), result, Budget(wall=WALL))
    named = bool(result.diagnosis.alternatives)
    pointed = point(found.certified, found.suspects, detail=False)
    lines = [(line.certainty, _distance(answer, line.line)) for line in pointed]
    doubted = found.doubted  # a repair whose line is not shown, because it contradicts the name
    doubted_line = doubted.place.text.line(doubted.edit.at[0]) if doubted else None
    return {
        **row,
        "outcome": "failed",
        "named": named,
        "repairs": [r.edit.operator for r in found.repairs],
        "lines": lines,
        "doubted": None if doubted_line is None else _distance(answer, doubted_line),
        "names": [list(names) for names in result.diagnosis.alternatives],
        "tried": found.tried,
        "cpu": found.seconds,
        "first": found.first_at,
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
        "… not in the reference": [r for r in searched if r["kind"] == "bank" and not _in_reference(r)],
        "named": [r for r in searched if r["named"]],
        "not named": [r for r in searched if not r["named"]],
    }
    out = ["| | " + " | ".join(groups) + " |", "|---" * (len(groups) + 1) + "|"]
    for title, of in MEASURES.items():
        cells = [of(group) if group else "–" for group in groups.values()]
        out.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join([*out, "", f"{len(rows) - len(searched)} answers were not searched."])


def _in_reference(row: dict) -> bool:
    return row["name"].endswith("/reference")


def _sure(rows: list[dict]) -> list[dict]:
    """Return the rows with a certified line: an edit of it passes."""
    return [row for row in rows if row["lines"] and row["lines"][0][0] == "repaired"]


def _has_wrong_name(row: dict) -> bool:
    """Whether a row has names, and none of them is the mistake of the answer."""
    of_bank = row["kind"] == "bank"
    right = {row["name"].split("/")[1]} if of_bank else EQUALS[row["name"]]
    return row["named"] and not any(right & set(names) for names in row["names"])


def _doubted(rows: list[dict]) -> list[dict]:
    """Return the rows whose certified line is not shown because it contradicts the name."""
    return [row for row in rows if row["doubted"] is not None]


def _names(rows: list[dict]) -> str:
    """Return the share of the named answers that have a wrong name."""
    named = [row for row in rows if row["named"]]
    return _share(sum(map(_has_wrong_name, named)), len(named))


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
    "a wrong name, of all names": _names,
    "a certified line is not shown: it contradicts the name": lambda rows: str(len(_doubted(rows))),
    "… and it is not in the faulty statement": lambda rows: str(
        sum(row["doubted"] > 0 for row in _doubted(rows))
    ),
    "… and the name is wrong": lambda rows: str(sum(map(_has_wrong_name, _doubted(rows)))),
    "CPU seconds: median": lambda rows: f"{statistics.median(r['cpu'] for r in rows):.2f}",
    "CPU seconds: most": lambda rows: f"{max(r['cpu'] for r in rows):.2f}",
}


if __name__ == "__main__":
    main()
