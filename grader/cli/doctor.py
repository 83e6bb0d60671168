"""`grader doctor`: which features work on this machine."""

from __future__ import annotations

import platform
import re
import sys
from importlib.metadata import distribution
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from grader.sandbox.base import TierReport

from grader.support.i18n import _


@click.command(
    help=_(
        "Show the versions of Python and torch, and which devices, sandboxes and notebook tools are available."
    )
)
def doctor() -> None:
    from importlib.util import find_spec

    from rich.console import Console
    from rich.table import Table

    from grader.sandbox.choose import report_all
    from grader.support.version import __version__

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("grader", __version__)
    oldest = _oldest_supported()
    found = f"{platform.python_version()}, {sys.platform}, {platform.machine()}"
    for name, words in (("python", found), ("torch", _torch())):
        supported = _("{version} or newer is supported").format(version=oldest[name])
        table.add_row(name, f"{words}; {supported}")
    for name, use in (
        ("watchfiles", _("watch")),
        ("jupytext", _("build, for instructors")),
        ("nbgrader", _("courses, for instructors")),
    ):
        says = _("installed ({use})") if find_spec(name) else _("not installed ({use})")
        table.add_row(name, says.format(use=use))
    for report in report_all(fresh=True):
        table.add_row(_("sandbox {name}").format(name=report.tier), _tier(report))
    Console(highlight=False).print(table)


def _oldest_supported() -> dict[str, str]:
    about = distribution("headway")
    words = [f"python{about.metadata['Requires-Python']}", *(about.requires or ())]
    found = [re.match(r"(python|torch)\s*>=\s*([\d.]+)", line) for line in words]
    return {match[1]: match[2] for match in found if match}


def _torch() -> str:
    try:
        import torch
    except ImportError as error:
        return _("cannot be imported: {reason}").format(reason=error)
    gpus = torch.cuda.device_count()
    return f"{torch.__version__}, " + (torch.cuda.get_device_name(0) if gpus else _("no CUDA device"))


def _tier(report: TierReport) -> str:
    if not report.available:
        return _("not available: {reason}").format(reason=report.reason)
    parts = [f"{_('available')} ({report.reason})" if report.reason else _("available")]
    if report.canaries:
        promised = sum(canary.promised for canary in report.canaries)
        parts.append(_("self-test passed; number of attempts: {n}").format(n=promised))
    return "; ".join(parts)
