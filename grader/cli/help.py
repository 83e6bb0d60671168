"""Commands that help with one exercise: `grader hint`, `explain`, `case` and `reset`."""

from __future__ import annotations

import os
import sys
import time
from contextlib import closing
from difflib import get_close_matches
from pathlib import Path
from shutil import get_terminal_size

import click
import msgspec

from grader.bundle.model import PAGE, QUESTION, bundle_of
from grader.cli.shared_options import course_option, sandbox_option
from grader.intake.course import find, one_exercise
from grader.intake.own_code import restored
from grader.intake.read import Blocked, read_own
from grader.student import progress
from grader.support.errors import CannotWrite
from grader.support.files import make_folder, read_regular, write_atomically, write_own
from grader.support.i18n import _, ngettext

FILE = ".headway/hints.json"


@click.command(
    help=_(
        "Show the next hint: first a question about your last answer, then something to try by hand, then the "
        "strategy in words."
    )
)
@click.argument("exercise")
@course_option
@click.option("--again", is_flag=True, help=_("Repeat the hints shown so far."))
def hint(exercise: str, course: Path | None, again: bool) -> None:
    where = find(course)
    found, path = one_exercise(exercise, where.bundles), where.root / FILE
    last = progress.load(where.root)[found.name]
    failed = last.outcome == "failed"
    asks = _("About your last answer: {question}").format(question=_(last.asks))
    hints = [*([asks] if failed and last.asks and found.level >= QUESTION else []), *map(_, found.hints)]
    all_shown = _shown(path)
    shown = all_shown.setdefault(found.name, [])
    lines = [one for one in hints if one in shown]
    if not again:
        lines = [one for one in hints if one not in shown][:1] or hints[-1:]
    shown += [one for one in lines if one not in shown]
    for line in lines:
        click.echo(click.wrap_text(line, width=get_terminal_size().columns))
    if left := sum(one not in shown for one in hints):
        says = ngettext("There is {n} more hint.", "There are {n} more hints.", left)
        click.echo(says.format(n=left))
    elif failed and last.page and found.level >= PAGE:
        click.echo(
            _("That was the last hint. A page about your mistake:\n  grader explain {id}").format(
                id=last.page
            )
        )
    else:
        click.echo(_("That was the last hint."))
    try:
        make_folder(path.parent)
        write_own(path, msgspec.json.encode(all_shown, order="sorted"))
    except CannotWrite as why:
        click.echo(_("The next call shows the same hint again: {why}.").format(why=why), err=True)


def _shown(path: Path) -> dict[str, list[str]]:
    """Return exercise → the hints that were shown."""
    try:
        return msgspec.json.decode(read_regular(path), type=dict[str, list[str]])
    except (OSError, ValueError, RecursionError):
        return {}


EXPLAIN_EXAMPLES = _("""\b
Examples:
  grader explain                      all known mistakes, one line each
  grader explain MultiHeadAttention   the known mistakes of one exercise
  grader explain mha-keys-through-wq  one mistake, and a page about it and those like it
""")


@click.command(
    help=_("Show what a known mistake is, what it does to a model, and how to see it yourself."),
    epilog=EXPLAIN_EXAMPLES,
)
@click.argument("name", required=False)
@course_option
def explain(name: str | None, course: Path | None) -> None:
    from rich.console import Console
    from rich.markdown import Markdown
    from rich.text import Text

    exercises = [e for b in find(course).bundles for e in b.exercises if e.level >= PAGE]
    known = [(e, m) for e in exercises for m in e.mistakes]
    console = Console(highlight=False)
    for chosen in [m for _e, m in known if m.id == name]:
        console.print(Text(chosen.id, style="bold"))
        console.print(Text(_(chosen.says)))
        console.print(Text(_(chosen.asks), style="italic"))
        console.print()
        console.print(Markdown(_(chosen.page)))
        return
    listed = [(e, m) for e, m in known if name in (None, e.name, e.assignment)]
    if not listed:
        near = get_close_matches(name or "", [m.id for _e, m in known], n=3)
        says = _("no known mistake {name}; `grader explain` lists them all")
        if near:
            says = _("no known mistake {name}; did you mean {near}?")
        raise click.UsageError(says.format(name=name, near=", ".join(near)))
    for exercise, mistake in listed:
        line = Text.assemble((mistake.id, "bold"), f"  {exercise.name}: {_(mistake.says)}")
        if console.is_terminal:
            line = Text("\n    ").join(line.wrap(console, console.width - 4))
        console.print(line, soft_wrap=True)  # one line each in a pipe, for grep


CASE_EXAMPLES = _("""\b
Example:
  grader case masked_softmax      then run or debug the file whose name it prints

\b
Exit status: 0 a file was written, or all public cases pass; otherwise that of `grader check`.
""")


@click.command(
    epilog=CASE_EXAMPLES,
    help=_(
        "Write the inputs of the first failing public case into a small Python file beside yours."
        "\n\nThe file calls your code as the grader does. It holds no expected output."
    ),
)
@click.argument("exercise")
@course_option
@sandbox_option
def case(exercise: str, course: Path | None, sandbox: str) -> None:
    from grader.engine.engine import Engine
    from grader.report.shared_sentences import first_failure
    from grader.sandbox.choose import choose
    from grader.student.case_file import write_case
    from grader.student.case_part import smallest
    from grader.student.check import grade_assignment
    from grader.student.status_line import status_line

    where = find(course)
    wanted = one_exercise(exercise, where.bundles)
    bundle = bundle_of(where.bundles, wanted.name)
    with (
        closing(choose(sandbox)) as launcher,
        closing(Engine(where.bundles, launcher)) as engine,
        status_line(quiet=False) as status,
    ):
        status.grading(wanted.name)
        try:
            source, report = grade_assignment(engine, where, bundle, [wanted.name])
        except Blocked as why:
            click.echo(str(why))
            sys.exit(1)
        progress.save(where.root, report.exercises)
        (result,) = report.exercises
        failed = first_failure(result.checks)
        if failed is None:
            passes = _("{name} passes: no public case fails.").format(name=wanted.name)
            not_started = _("{name} is not started.").format(name=wanted.name)
            click.echo(passes if result.outcome == "passed" else result.message or not_started)
            sys.exit(report.exit_status)
        part, says = smallest(engine, source, wanted, failed)
        names = engine.known(source.submission)
    file = where.file_for(bundle)
    about = _("Inputs of {name}, for: {check}.").format(name=wanted.name, check=failed.title)
    path = write_case(file, wanted.name, part, "\n\n".join(filter(None, [about, says])), names)
    shown = os.path.relpath(path)
    click.echo(_("{check}: the inputs are in {file}").format(check=failed.title, file=shown))
    if file.suffix == ".ipynb":
        click.echo(_("Run your cells, then this line in a new cell: %run -i {file}").format(file=path.name))
    else:
        click.echo(_("Run it: python {file}").format(file=shown))
        click.echo(_("Stop where it raises: python -m pdb -c continue {file}").format(file=shown))


@click.command(
    help=_(
        "Reset an exercise to its original stub. The rest of the file does not change, and a copy is saved."
        "\n\nIn a notebook, the cell that defines the exercise is reset."
    )
)
@click.argument("exercise")
@course_option
def reset(exercise: str, course: Path | None) -> None:
    where = find(course)
    exercise = one_exercise(exercise, where.bundles).name
    bundle = bundle_of(where.bundles, exercise)
    path = where.file_for(bundle)
    old = read_own(path) if path.exists() else b""
    text, notebook = old.decode("utf-8", "replace"), path.suffix == ".ipynb"
    new = restored(text, exercise, bundle.stub, notebook=notebook)
    if old:
        copy = path.with_name(f"{path.stem}.{time.strftime('%Y%m%d-%H%M%S')}{path.suffix}.old")
        write_atomically(copy, old)
        click.echo(_("Saved the old file as {name}.").format(name=copy.name))
    write_atomically(path, new.encode())
    says = _("Reset {exercise} in {name} to the original stub.")
    click.echo(says.format(exercise=exercise, name=path.name))
