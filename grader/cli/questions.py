"""`grader questions`: three questions about the student's own code, with other numbers for every student."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.cli.shared_options import course_option
from grader.intake.course import find, one_assignment
from grader.student import progress
from grader.student import questions as own
from grader.student.writer import load_module
from grader.support.errors import UsageError
from grader.support.i18n import _

EXAMPLES = _("""\b
Examples:
  grader questions 05 --seed anna  with the numbers of this seed

\b
Exit status: 0 all right, or printed; 1 a wrong answer, or some exercises have not passed yet; 2 wrong use.
""")
SAYS = _("Ask what your code returns, with numbers of your own. This runs your code as Python does.")


@click.command(help=SAYS, epilog=EXAMPLES)
@click.argument("assignment")
@click.option("--plain", is_flag=True, help=_("Print the questions, and do not wait for answers."))
@click.option("--seed", default="", help=_("Draw the numbers from this text; default: your own seed."))
@course_option
def questions(assignment: str, plain: bool, seed: str, course: Path | None) -> None:
    where = find(course)
    bundle = one_assignment(assignment, where.bundles)
    names = [exercise.name for exercise in bundle.exercises]
    if own.CALLS.keys().isdisjoint(names):
        raise UsageError(
            _("{name} has no such questions; lessons 01 to 08 have").format(name=bundle.assignment)
        )
    known = progress.load(where.root)
    if left := [name for name in names if known[name].outcome != "passed"]:
        says = _("The questions come when all exercises of {name} have passed.\nStill to do: {left}.")
        click.echo(says.format(name=bundle.assignment, left=", ".join(left)))
        sys.exit(1)
    file = where.file_for(bundle)
    module = load_module(file, [where.folder_of(one) for one in where.bundles])
    asked = own.questions(names, vars(module), f"{seed or progress.seed(where.root)} {bundle.assignment}")
    if not asked:
        raise UsageError(_("{file} is not called as in the lesson: no questions").format(file=file.name))
    waits, wrong = not plain and sys.stdin.isatty() and sys.stdout.isatty(), 0
    for n, (text, options, at) in enumerate(asked, 1):
        shown = [f"  {letter}  {option}\n" for letter, option in zip(own.LETTERS, options, strict=False)]
        click.echo(f"{n}. {text}\n\n{''.join(shown)}")
        if waits:
            letters = click.Choice(own.LETTERS[: len(options)], case_sensitive=False)
            is_right = click.prompt(_("Your answer"), type=letters) == own.LETTERS[at]
            says = _("Right.") if is_right else _("Your code returns {right}: {option}.")
            click.echo(says.format(right=own.LETTERS[at], option=options[at]) + "\n")
            wrong += not is_right
    sys.exit(wrong > 0)
