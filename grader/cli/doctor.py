"""`grader doctor`: what this machine can do."""

from __future__ import annotations

import platform
import sys

import click

from grader.i18n import _


@click.command()
def command() -> None:
    """Tell which Python, torch, device, sandbox tier and notebook tools there are."""
    from importlib.util import find_spec

    from rich.console import Console
    from rich.table import Table

    from grader import __version__

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row("grader", __version__)
    table.add_row("python", f"{platform.python_version()}, {sys.platform}, {platform.machine()}")
    table.add_row("torch", _torch())
    for name, use in (("nbformat", _("notebooks")), ("jupytext", _("notebooks")), ("nbgrader", _("courses")), ("watchfiles", _("watch"))):
        table.add_row(name, _("there ({use})").format(use=use) if find_spec(name) else _("not installed ({use})").format(use=use))
    for name, words in _tiers():
        table.add_row(_("sandbox {name}").format(name=name), words)
    Console(highlight=False).print(table)


def _torch() -> str:
    try:
        import torch
    except ImportError as error:
        return _("cannot be imported: {reason}").format(reason=error)
    gpus = torch.cuda.device_count()
    return f"{torch.__version__}, " + (torch.cuda.get_device_name(0) if gpus else _("no CUDA device"))


def _tiers() -> list[tuple[str, str]]:
    return [("basic", _("there: a process of its own with limits; forging a verdict does not work, accidents are bounded"))]
