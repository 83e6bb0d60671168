"""`grader cluster`: certificates, a scheduler and workers for `grader grade --cluster`."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import click

from grader.cli.shared_options import FOLDER
from grader.support.i18n import _

EXAMPLES = """\b
Examples:
  grader cluster certificates keys               then copy keys/ to every machine, by a safe way
  grader cluster scheduler --certificates keys   on one machine, such as host
  grader cluster worker tls://host:8786 --certificates keys --workers 8
  grader grade submissions --cluster tls://host:8786 --certificates keys

\b
Scheduler and workers are those of Dask. Options after -- go to them: `grader cluster worker ADDRESS … -- --lifetime 55m`.
"""

_certificates = partial(
    click.option,
    "--certificates",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help=_("Folder that `grader cluster certificates` made."),
)
certificates_option = _certificates()
_certificates_required = _certificates(required=True)
_dask = click.argument("dask", nargs=-1, type=click.UNPROCESSED, metavar="[-- OPTIONS OF DASK]")


@click.group(epilog=EXAMPLES)
def command() -> None:
    """Set up machines that grade together."""
    try:
        import cryptography  # noqa: F401
        import distributed  # noqa: F401
    except ImportError as missing:
        raise click.UsageError(
            _("this needs the package {name}: python -m pip install distributed cryptography").format(
                name=missing.name
            )
        ) from None


@command.command()
@click.argument("folder", type=FOLDER)
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    default=365,
    show_default=True,
    help=_("The number of days for which they are valid."),
)
def certificates(folder: Path, days: int) -> None:
    """Make the certificates of one cluster in FOLDER. Keep them secret."""
    from grader.classroom.certificates import write_certificates

    write_certificates(folder, days)
    click.echo(_("{path}: ca.pem, scheduler.pem, worker.pem, client.pem").format(path=folder))


@command.command()
@_certificates_required
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8786, show_default=True, help=_("0: any that is free.")
)
@_dask
def scheduler(certificates: Path, port: int, dask: tuple[str, ...]) -> None:
    """Run a scheduler until it is stopped."""
    _run("scheduler", ["--host", f"tls://:{port}", "--no-dashboard", *dask], certificates)


@command.command()
@click.argument("address")
@_certificates_required
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help=_("The number of worker processes; use one per core."),
)
@_dask
def worker(address: str, certificates: Path, workers: int, dask: tuple[str, ...]) -> None:
    """Run workers for the scheduler at ADDRESS until they are stopped."""
    from grader.classroom.certificates import encrypted, require_trust

    address = encrypted(address)
    require_trust(address, certificates, "worker")
    threads = ["--nworkers", str(workers), "--nthreads", "1", "--memory-limit", "0", "--no-dashboard"]
    _run("worker", [address, *threads, *dask], certificates)


def _run(role: str, arguments: list[str], certificates: Path) -> None:
    """Run Dask's command for a role. Do not return: exit with its status, or replace this process by it."""
    from grader.classroom.certificates import options_of
    from grader.classroom.cluster_worker import dask_variables

    files = options_of(certificates, role)
    arguments = [*arguments, *(f"--{name}={path}" for name, path in files.items())]
    command = [sys.executable, "-m", f"distributed.cli.dask_{role}", *arguments]
    variables = {**os.environ, **dask_variables()}
    if os.name == "posix":
        os.execve(command[0], command, variables)
    sys.exit(subprocess.run(command, env=variables).returncode)
