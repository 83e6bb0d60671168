"""`grader answer`: the answer to a question of a lesson, once the exercises of the lesson have passed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from grader.bundle.answers import ANSWERS_FILE, answers, questions
from grader.cli.shared_options import course_option
from grader.intake.course import find, one_assignment
from grader.student import progress
from grader.support.errors import UsageError
from grader.support.files import read_regular
from grader.support.i18n import _

EXAMPLES = _("""\b
Examples:
  grader answer 02 1        the first question of lesson 02
  grader answer masking 3   the third one

\b
Exit status: 0 shown, 1 some exercises of the lesson have not passed yet, 2 wrong use.
""")


@click.command(
    help=_(
        "Show the answer to a question of a lesson, and the usual wrong one."
        "\n\nThe questions are at the end of each lesson. Answers are shown once its exercises have passed."
    ),
    epilog=EXAMPLES,
)
@click.argument("assignment")
@click.argument("question", type=int)
@course_option
def answer(assignment: str, question: int, course: Path | None) -> None:
    where = find(course)
    bundle = one_assignment(assignment, where.bundles)
    try:
        known = answers(read_regular(where.folder_of(bundle) / ANSWERS_FILE).decode())
    except (OSError, ValueError):
        says = _("this course has no answers to the questions of {name}; ask your instructor about them")
        raise UsageError(says.format(name=bundle.assignment)) from None
    if question not in known:
        says = _("{name} has no question {n}; its questions are {all}")
        raise UsageError(says.format(name=bundle.assignment, n=question, all=", ".join(map(str, known))))
    done = progress.load(where.root)
    left = [e.name for e in bundle.exercises if done[e.name].outcome != "passed"]
    if left:
        says = _(
            "Think about it a little longer: the answer is shown when all exercises of {name} have passed."
            "\nStill to do: {left}."
        )
        click.echo(says.format(name=bundle.assignment, left=", ".join(left)))
        sys.exit(1)
    from rich.console import Console
    from rich.markdown import Markdown

    asked = _(questions(bundle.stub).get(question, ""))
    console = Console(highlight=False)
    console.print(Markdown(f"> {asked}"), Markdown(_(known[question])))
