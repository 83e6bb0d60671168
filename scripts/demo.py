"""Grade the reference solutions with hidden cases, and one submission with a famous mistake in it.

    python scripts/demo.py

Shows both reports and exits 0 when both outcomes are what they should be.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.rule import Rule

from grader.authoring.bank import apply
from grader.authoring.content import Assignment, read_all
from grader.authoring.hidden_cases import hidden_bundles
from grader.engine.engine import Engine
from grader.intake.read import Submission, Unit
from grader.report.model import ExerciseResult, Report
from grader.report.terminal import show
from grader.sandbox.choose import choose
from grader.support.i18n import _

BROKEN = "MultiHeadAttention"
MISTAKE = "mha-keys-and-values-through-wq"


def main() -> int:
    """Grade both, show both. Returns the exit status."""
    console = Console(highlight=False)
    solutions = Path("solutions")
    with console.status(_("recording hidden cases")):
        assignments, bundles = read_all(solutions), hidden_bundles(solutions)
    mistake = next(m for a in assignments for m in a.mistakes(BROKEN) if m.id == MISTAKE)
    launcher = choose()
    engine = Engine(bundles, launcher, hidden=True, torch_version=version("torch"))
    try:
        with console.status(_("grading")):
            right = grade(engine, assignments, {})
            engine.quick = True  # the trainings that take longer have passed just now
            wrong = grade(
                engine,
                assignments,
                {a.name: apply(mistake, a.source) for a in assignments if a.mistakes(BROKEN)},
            )
    finally:
        engine.close()
        launcher.close()
    console.print(Rule(_("the reference solutions, hidden cases")))
    show(right, console)
    console.print(Rule(_("a submission whose keys and values go through the query weights")))
    show(wrong, console)
    problems = [*_expected_right(right), *_expected_wrong(wrong)]
    for problem in problems:
        console.print(f"NOT AS IT SHOULD BE: {problem}", markup=False)
    return 1 if problems else 0


def grade(engine: Engine, assignments: list[Assignment], changed: dict[str, str]) -> Report:
    """One report over all assignments, each from its reference or from the changed source."""
    results: list[ExerciseResult] = []
    for assignment in assignments:
        file = f"{assignment.module}.py"
        source = changed.get(assignment.name, assignment.source)
        names = [fields["name"] for fields in assignment.exercises]
        results += engine.grade(Submission(Path(file), (Unit(file, source),)), names).exercises
    return engine.report(results)


def _expected_right(report: Report) -> list[str]:
    return [
        f"{e.name} of the reference solutions is {e.outcome}"
        for e in report.exercises
        if e.outcome != "passed"
    ]


def _expected_wrong(report: Report) -> list[str]:
    out = [
        f"{e.name} beside the broken one is {e.outcome}"
        for e in report.exercises
        if e.outcome != "passed" and e.name != BROKEN
    ]
    broken = next(e for e in report.exercises if e.name == BROKEN)
    if broken.outcome != "failed" or (MISTAKE,) not in broken.diagnosis.alternatives:
        out.append(f"{BROKEN} is {broken.outcome}, diagnosed as {broken.diagnosis.alternatives}")
    return out


if __name__ == "__main__":
    sys.exit(main())
