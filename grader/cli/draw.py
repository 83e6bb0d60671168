"""`grader draw`: a page with the attention maps that a lesson shows."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from torch import set_num_threads

from grader.cli.shared_options import FILE, course_option
from grader.intake.course import find, one_assignment
from grader.report import html, maps
from grader.student.writer import load_module
from grader.support.errors import UsageError
from grader.support.files import write_own
from grader.support.i18n import _

EXAMPLES = _("""\b
Examples:
  grader draw 05                        the heads of your untrained model
  grader draw 11 --words "7 4 9 7 5 4"  a sentence of your own
  grader draw 09 --output words.html
""")


@click.command(
    help=_(
        "Draw the attention maps of your own model, every head of every layer, as a page."
        "\n\nThis runs the lesson's file as Python does, and trains a model where the lesson trains one."
    ),
    epilog=EXAMPLES,
)
@click.argument("assignment")
@click.option("--words", default="", help=_("The sentence to draw; default: one of the lesson."))
@click.option("--output", type=FILE, help=_("The page; default: attention.html beside your file."))
@course_option
def draw(assignment: str, words: str, output: Path | None, course: Path | None) -> None:
    where = find(course)
    bundle = one_assignment(assignment, where.bundles)
    file = where.file_for(bundle)
    set_num_threads(1)  # the tensors are small, and more threads would be many times slower
    with maps.collecting(words.split()) as found:
        load_module(file, [where.folder_of(one) for one in where.bundles], demos=True)
    if not found.pictures:
        says = _(
            "{file} shows no attention maps; lessons 05, 09, 10 and 11 do, when their exercises are written"
        )
        raise UsageError(says.format(file=file.name))
    page = output or file.parent / "attention.html"
    title = _("Attention maps of {file}").format(file=file.name)
    write_own(page, html.render("maps.html.jinja", title=title, drawn=found.pictures).encode())
    click.echo(str(page), file=sys.stdout)
