"""Report which cases and checks no wrong answer depends on.

    python scripts/kill_matrix.py                  a row per exercise; takes minutes
    python scripts/kill_matrix.py --write          also write docs/kill-matrix.md
    python scripts/kill_matrix.py sequence_mask    also each case, its CPU time, and answers that depend on it

Wrong answers are the known mistakes, the mutants (faults that no report names), the trivial answers (they compute
nothing) and those of tests/answers. Answers that fail only on another device are left out. An answer depends on a
case or a check if without it the outcome, the facets that fail, the advice or the names in its diagnosis differ.
Only public cases are measured, and no whole trainings (cases with an exam).

A case on which no answer depends may still be needed: tests/course has rules that no single answer shows.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import torch

from grader.authoring.bank import DEVICE, apply
from grader.authoring.content import Assignment, read_all
from grader.authoring.observe import definitions, observe
from grader.bundle.files import load_all
from grader.bundle.model import Exercise, RecordedCase
from grader.bundle.safetensors import Array
from grader.diagnosis.match import known_rows
from grader.diagnosis.signature import named_by, signature
from grader.judge.verdict import JudgedCase, judge_all
from grader.report.model import CheckResult

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))
from helpers.answers import ANSWERS  # noqa: E402 (tests/ must be on the path first)

Names = tuple[tuple[str, ...], ...]
EXAMPLES = 4  # the search stops after so many answers per case or check, because it takes long


@dataclass(frozen=True)
class Answer:
    """The findings of the grader in a wrong answer."""

    failed: tuple[CheckResult, ...]  # including checks whose outcome is advice
    states: tuple[str, ...]  # with `numbers`: the signature
    numbers: Array


@dataclass(frozen=True)
class Matrix:
    """The measurements of one exercise."""

    exercise: Exercise
    answers: int
    seconds: Mapping[str, float]  # CPU time of the reference, per case
    of_cases: Mapping[str, tuple[str, ...]]  # case → some answers that depend on it
    of_checks: Mapping[str, tuple[str, ...]]  # check → some answers that depend on it
    together: frozenset[str]  # cases that can all be left out at once


PAGE = """# Which cases wrong answers depend on

`python scripts/kill_matrix.py --write` writes this page; do not edit it.

Wrong answers are the known mistakes, the mutants, the trivial answers and those of `tests/answers`. An answer depends
on a case if without it the outcome, the facets that fail, the advice or the names in its diagnosis would differ.
"Unused" cases are those that no answer depends on; "at once" of them can be left out together, with that share of the
CPU time of all cases. A used check is one that an answer depends on alone, while all others stay.

No case is left out only because this table says so. Tests of the course need different sizes, right answers need
cases in which they are accepted, and a file that knows nothing must earn at most 10 of 100 points.

{rows}
"""
HEAD = """| exercise | wrong answers | cases | unused | at once | their CPU time | checks | used |
|---|--:|--:|--:|--:|--:|--:|--:|"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("exercises", nargs="*", metavar="EXERCISE")
    parser.add_argument("--write", action="store_true")
    wanted = parser.parse_args()
    if wanted.write and wanted.exercises:
        parser.error("--write is for all exercises")
    torch.set_num_threads(1)  # as in a worker: the tensors are tiny
    exercises = {e.name: e for bundle in load_all(ROOT / "assignments") for e in bundle.exercises}
    print(HEAD)
    rows = []
    for assignment in read_all(ROOT / "solutions"):
        for fields in assignment.exercises:
            if not wanted.exercises or fields["name"] in wanted.exercises:
                found = matrix(assignment, exercises[fields["name"]])
                rows.append(row(found))
                print(rows[-1], flush=True)
                if wanted.exercises:
                    print("\n".join(details(found)), flush=True)
    if wanted.write:
        (ROOT / "docs" / "kill-matrix.md").write_text(PAGE.format(rows="\n".join([HEAD, *rows])), "utf-8")


def matrix(assignment: Assignment, exercise: Exercise) -> Matrix:
    exercise = replace(exercise, cases=named_by(exercise.cases))
    seconds = {case.id: _seconds(assignment.source, exercise, case) for case in exercise.cases}
    answers = {name: graded(source, exercise) for name, source in wrong_answers(assignment, exercise)}
    whole = {name: names(exercise, answer, ()) for name, answer in answers.items()}

    def depend_on(checks: Collection[str], cases: Collection[str] = ()) -> tuple[str, ...]:
        """Return up to EXAMPLES answers whose report would differ if these checks and cases were all left out."""
        left_out = {*checks, *cases}
        found = (n for n, answer in answers.items() if depends(exercise, answer, whole[n], left_out))
        return tuple(islice(found, EXAMPLES))

    checks = {case.id: [check.id for check in case.checks] for case in exercise.cases}
    of_cases = {id: depend_on(checks[id], [id]) for id in checks}
    together: frozenset[str] = frozenset()
    # Try to leave out one case more, the most expensive first.
    for id in sorted((id for id, names in of_cases.items() if not names), key=lambda id: -seconds[id]):
        more = together | {id}
        if not depend_on([check for case in more for check in checks[case]], more):
            together = more
    return Matrix(
        exercise,
        len(answers),
        seconds,
        of_cases,
        {check: depend_on([check]) for of_case in checks.values() for check in of_case},
        together,
    )


def wrong_answers(assignment: Assignment, exercise: Exercise) -> Iterator[tuple[str, str]]:
    """Yield the name and the source of each wrong answer of an exercise."""
    trivial = [answer for answer in assignment.variants(exercise.name) if answer.kind == "trivial"]
    for answer in [*assignment.mistakes(exercise.name), *assignment.mutants(exercise.name), *trivial]:
        if answer.breaks != DEVICE:
            for number, form in enumerate((answer, *answer.forms)):
                yield f"{answer.id}.{number}", apply(form, definitions(assignment.source))
    for independent in ANSWERS:
        wrong = independent.name.startswith("wrong_") and independent.breaks != {"device"}
        if wrong and independent.exercise == exercise.name:
            yield independent.name, independent.source


def graded(source: str, exercise: Exercise) -> Answer:
    """Run an answer on each case in the case's own dtype, as a worker does."""
    judged: dict[str, JudgedCase] = {}
    for dtype in dict.fromkeys(case.dtype for case in exercise.cases):
        cases = [case for case in exercise.cases if case.dtype == dtype]
        judged |= judge_all(cases, observe(source, exercise.given, cases, dtype))
    checks = [check for case in judged.values() for check in case.checks]
    failed = tuple(check for check in checks if check.outcome != "passed")
    return Answer(failed, *signature(exercise.cases, judged))


def _seconds(source: str, exercise: Exercise, case: RecordedCase) -> float:
    """Return the CPU seconds of the second of two runs, without the time to load the file."""

    def run(cases: list[RecordedCase]) -> float:
        started = time.process_time()
        observe(source, exercise.given, cases, case.dtype)
        return time.process_time() - started

    source = definitions(source)
    run([case])
    return max(0.0, run([case]) - run([]))


def depends(exercise: Exercise, answer: Answer, named: Names, left_out: Collection[str]) -> bool:
    """Whether a report would differ without these cases and checks. named: the names with all cases and checks."""

    def failing(checks: Iterable[CheckResult]) -> set[tuple[str, str]]:
        # A check with a policy gives advice; the report does not depend on its facet.
        return {(check.facet if not check.policy else "", check.policy) for check in checks}

    left = [check for check in answer.failed if check.id not in left_out]
    return failing(left) != failing(answer.failed) or names(exercise, answer, left_out, named) != named


def names(
    exercise: Exercise, answer: Answer, left_out: Collection[str], otherwise: Names | None = None
) -> Names:
    """Name the mistakes with signatures that leave these cases and checks out.

    otherwise: the result if the signatures have nothing of these cases and checks.
    """
    table = exercise.signatures
    if table is None or not exercise.level:  # the report of this exercise names no mistake
        return ()
    places = [slot.partition("|") for slot in table.slots]  # "case|observation" or "case|check:id"
    kept = [
        n for n, (case, _bar, what) in enumerate(places)
        if case not in left_out and what.removeprefix("check:") not in left_out
    ]  # fmt: skip
    if otherwise is not None and len(kept) == len(places):
        return otherwise
    table = replace(
        table,
        slots=tuple(table.slots[n] for n in kept),
        states=table.states[:, kept],
        numbers=table.numbers[:, kept],
    )
    return known_rows(table, exercise.cases, [answer.states[n] for n in kept], answer.numbers[kept])


def row(found: Matrix) -> str:
    unused = [id for id, names in found.of_cases.items() if not names]
    share = sum(found.seconds[id] for id in found.together) / max(sum(found.seconds.values()), 1e-9)
    useful = sum(bool(names) for names in found.of_checks.values())
    return (
        f"| {found.exercise.name} | {found.answers} | {len(found.of_cases)} | {len(unused)} | {len(found.together)}"
        f" | {share:.0%} | {len(found.of_checks)} | {useful} |"
    )


def details(found: Matrix) -> Iterator[str]:
    """Yield a line for each case, the most expensive one first."""
    for id, seconds in sorted(found.seconds.items(), key=lambda pair: -pair[1]):
        names = found.of_cases[id]
        can_go = "can go with the others" if id in found.together else "no answer depends on it alone"
        dependent = ", ".join(names) if names else can_go
        yield f"  {1000 * seconds:6.1f} ms  {id}: {dependent}"


if __name__ == "__main__":
    main()
