"""`grader case`: write the inputs of the first failing case to a file that runs under a debugger."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from grader.cli.shared_options import course_option, sandbox_option
from grader.support.i18n import _

EXAMPLES = _("""\b
Example:
  grader case masked_softmax      then run or debug the file whose name it prints

\b
Exit status: 0 a file was written, or all public cases pass; otherwise that of `grader check`.
""")


@click.command(
    epilog=EXAMPLES,
    help=_(
        "Write the inputs of the first failing public case into a small Python file beside yours."
        "\n\nThe file calls your code as the grader does. It holds no expected output."
    ),
)
@click.argument("exercise")
@course_option
@sandbox_option
def command(exercise: str, course: Path | None, sandbox: str) -> None:
    from grader.engine.engine import contracts_of, stubs_of
    from grader.intake.course import find, one_exercise
    from grader.intake.names import read_names
    from grader.intake.read import read_submission
    from grader.intake.recognise import match
    from grader.report.shared_sentences import first_failure
    from grader.student.case_file import write_case
    from grader.student.check import check

    where = find(course)
    wanted = one_exercise(exercise, where.bundles)
    report = check([wanted.name], course=where.root, sandbox=sandbox, lines=False)
    (result,) = report.exercises
    failed = first_failure(result.checks)
    if failed is None:
        passes = _("{name} passes: no public case fails.").format(name=wanted.name)
        not_started = _("{name} is not started.").format(name=wanted.name)
        click.echo(passes if result.outcome == "passed" else result.message or not_started)
        sys.exit(report.exit_status)
    file = where.file_for(next(b for b in where.bundles if b.assignment == wanted.assignment))
    names = match(contracts_of(where.bundles, stubs_of(where.bundles)), read_names(read_submission(file)))
    path = write_case(file, wanted, failed, names)
    shown = os.path.relpath(path)
    click.echo(_("{check}: the inputs are in {file}").format(check=failed.title, file=shown))
    if file.suffix == ".ipynb":
        click.echo(_("Run your cells, then this line in a new cell: %run -i {file}").format(file=path.name))
    else:
        click.echo(_("Run it: python {file}").format(file=shown))
        click.echo(_("Stop where it raises: python -m pdb -c continue {file}").format(file=shown))
