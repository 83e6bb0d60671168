"""`grader merge`: join stores that were graded apart."""

from __future__ import annotations

from pathlib import Path

import click

from grader.cli.shared_options import FILE
from grader.support.i18n import _

EXAMPLES = """\b
Examples:
  grader merge part-*.sqlite --store class.sqlite
  grader grade submissions --store class.sqlite --format html --output class.html
                                                 the page of the whole class; grades only what no part has

\b
All parts must be graded with one secret seed, one version of the course and one sandbox. If several versions of the
grader graded an exercise of a submission, the result of the newest counts. Merging again changes nothing.

\b
Exit status: 0 done, 2 refused; then the store is as before.
"""


@click.command(epilog=EXAMPLES)
@click.argument(
    "parts", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False)
)
@click.option(
    "--store",
    required=True,
    type=FILE,
    help=_("The store to write into; it is made if it does not exist."),
)
def command(parts: tuple[Path, ...], store: Path) -> None:
    """Join the stores PARTS of several calls of `grader grade` into one."""
    from grader.authoring.hidden_cases import derived_key
    from grader.classroom.class_run import STORE_SECRET
    from grader.classroom.merge import merge

    done = merge(parts, store, derived_key(STORE_SECRET))
    for path, count in done.rejected.items():
        click.echo(
            _(
                "{path}: {n} results are damaged or were not written by this grader. They were left out and will be graded again."
            ).format(path=path, n=count),
            err=True,
        )
    click.echo(
        _("{path}: {results} results of {n} submissions").format(
            path=store, results=done.results, n=done.submissions
        )
    )
