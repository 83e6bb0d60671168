"""Grade one common wrong answer, then the reference solutions, with the public cases.

    python scripts/demo.py [--svg FILE]

Prints the report of the wrong answer, and a line for each assignment; `--svg` also saves that report as a picture.
Exits with 0 if every outcome is the expected one, with 1 otherwise.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text
from shared import ROOT, course_engine, parser, submission_of

from grader.authoring.bank import apply
from grader.authoring.content import Assignment, read_all
from grader.engine.engine import Engine
from grader.report.model import ExerciseResult, Report
from grader.report.shared_sentences import points, total_points
from grader.report.terminal import show
from grader.support.i18n import _, ngettext

BROKEN = "MultiHeadAttention"
MISTAKE = "mha-keys-and-values-through-wq"


def main() -> int:
    """Grade and print the wrong answer and the reference solutions; return the exit status."""
    options = parser(__doc__)
    about_svg = _("save the report of the wrong answer as a picture")
    options.add_argument("--svg", type=Path, metavar="FILE", help=about_svg)
    svg = options.parse_args().svg
    console = Console(highlight=False)
    with course_engine(torch_version=version("torch")) as engine:
        assignments = read_all(ROOT / "solutions")
        picture = Console(highlight=False, record=True, width=80, force_terminal=True) if svg else console
        unexpected = _wrong_answer(engine, assignments, picture)
        unexpected += _reference_solutions(engine, assignments, console)
    if svg:
        image = picture.export_svg(title="grader check MultiHeadAttention")
        svg.write_text(re.sub(r"@font-face \{[^}]*\}\s*", "", image), "utf-8")  # no font from the network
    for result in unexpected:
        sentence = _("UNEXPECTED: {name} has the outcome {outcome}, and these names: {found}")
        found = result.diagnosis.alternatives
        sentence = sentence.format(name=result.name, outcome=result.outcome, found=found)
        console.print(sentence, style="red", markup=False)
    if unexpected:
        console.print(_("If you changed solutions/, run `grader build` first."), markup=False)
    return 1 if unexpected else 0


def grade(engine: Engine, assignment: Assignment, source: str) -> Report:
    """Grade one source as the file of an assignment."""
    names = [exercise.name for exercise in assignment.exercises]
    return engine.grade(submission_of(source, f"{assignment.module}.py"), names)


def _wrong_answer(
    engine: Engine, assignments: Sequence[Assignment], console: Console
) -> list[ExerciseResult]:
    """Grade the wrong answer, print its report, and return what was not graded as expected."""
    assignment = next(a for a in assignments if a.mistakes(BROKEN))
    mistake = next(m for m in assignment.mistakes(BROKEN) if m.id == MISTAKE)
    console.print(Text(), Rule(_("A wrong answer: keys and values are projected with W_q")), Text())
    for edit in mistake.edits:
        console.print(Padding(Text(f"- {edit.old.strip()}", style="red"), (0, 2)))
        console.print(Padding(Text(f"+ {edit.new.strip()}", style="green"), (0, 2)))
    with Console(stderr=True).status(_("grading {name}").format(name=BROKEN)):
        report = grade(engine, assignment, apply(mistake, assignment.source))
    broken = next(result for result in report.exercises if result.name == BROKEN)
    console.print()
    show(replace(report, exercises=(broken,)), console)
    named = broken.outcome == "failed" and (MISTAKE,) in broken.diagnosis.alternatives
    others = [one for one in report.exercises if one is not broken and one.outcome != "passed"]
    return others + [broken] * (not named)


def _reference_solutions(
    engine: Engine, assignments: Sequence[Assignment], console: Console
) -> list[ExerciseResult]:
    """Grade every reference solution, print one line per assignment, and return what did not pass."""
    console.print(Text(), Rule(_("The reference solutions, graded with the public cases")), Text(), sep="\n")
    started = time.monotonic()
    results: list[ExerciseResult] = []
    with console.status(_("starting")) as status:
        watched = engine.with_options(
            on_exercise=lambda name: status.update(_("grading {name}").format(name=name))
        )
        for assignment in assignments:
            report = grade(watched, assignment, assignment.source)
            results += report.exercises
            console.print(_line(assignment, report))
    unexpected = [result for result in results if result.outcome != "passed"]
    total = engine.report(results)
    sentence = _("{passed} of {all} exercises passed in {seconds:.0f} s, {score}.").format(
        passed=len(results) - len(unexpected),
        all=len(results),
        seconds=time.monotonic() - started,
        score=total_points(total.halves),
    )
    console.print(Text(), Text(f"  {sentence}", style="bold"), sep="\n")
    if any(result.partial for result in results):
        skipped = _("The long training of the capstone is not part of this demonstration.")
        console.print(Text(f"  {skipped}", style="dim"))
    return unexpected


def _line(assignment: Assignment, report: Report) -> Text:
    passed = all(result.outcome == "passed" for result in report.exercises)
    mark, style = ("✓", "green") if passed else ("✗", "red")
    count = len(report.exercises)
    exercises = ngettext("{n} exercise", "{n} exercises", count).format(n=count)
    score = points(report.score, report.points)
    return Text.assemble(f"  {assignment.name:<26}{exercises:<15}", (mark, style), f"{score:>12}")


if __name__ == "__main__":
    sys.exit(main())
