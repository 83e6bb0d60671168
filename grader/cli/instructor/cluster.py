"""`grader cluster`: a certificate, a scheduler and workers for `grader grade --cluster`."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import click

from grader.cli.shared_options import FILE
from grader.support.i18n import _

EXAMPLES = """\b
Examples:
  grader cluster certificate cluster.pem               then copy it to every machine, by a safe way
  grader cluster scheduler --certificate cluster.pem   on one machine, such as host
  grader cluster worker tls://host:8786 --certificate cluster.pem -- --nworkers 8
  grader grade submissions --cluster tls://host:8786 --certificate cluster.pem

\b
Scheduler and workers are those of Dask. Options after -- go to them. Use one worker per core.
"""

_certificate = partial(
    click.option,
    "--certificate",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help=_("File that `grader cluster certificate` made."),
)
certificate_option = _certificate()
_dask = click.argument("dask", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF DASK]")


@click.group(epilog=EXAMPLES)
def cluster() -> None:
    """Set up machines that grade together."""


@cluster.command()
@click.argument("file", type=FILE)
def certificate(file: Path) -> None:
    """Write the certificate of a cluster with its key, valid for a year. Keep it secret."""
    from grader.classroom.cluster_connection import write_certificate

    write_certificate(file)


@cluster.command()
@_certificate(required=True)
@_dask
def scheduler(certificate: Path, dask: tuple[str, ...]) -> None:
    """Run a scheduler on port 8786 until it is stopped."""
    _run("scheduler", certificate, "--host", "tls://:8786", *dask)


@cluster.command()
@click.argument("address")
@_certificate(required=True)
@_dask
def worker(address: str, certificate: Path, dask: tuple[str, ...]) -> None:
    """Run a worker for the scheduler at ADDRESS until it is stopped; with -- --nworkers 8, eight."""
    from grader.classroom.cluster_connection import connect

    with ExitStack() as opened:  # reports an error in one sentence, unlike Dask's command
        connect(address, certificate, opened).close()
    _run("worker", certificate, address, "--nthreads=1", "--memory-limit=0", *dask)


def _run(role: str, file: Path, *arguments: str) -> None:
    from grader.classroom.cluster_connection import DASK

    tls = (f"--tls-ca-file={file}", f"--tls-cert={file}", f"--tls-key={file}")
    command = [sys.executable, "-m", f"distributed.cli.dask_{role}", "--no-dashboard", *tls, *arguments]
    variables = {**os.environ, **DASK}
    if os.name == "posix":
        os.execve(command[0], command, variables)
    sys.exit(subprocess.run(command, env=variables).returncode)
