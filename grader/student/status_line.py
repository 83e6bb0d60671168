"""One line on the screen while something is graded or trained."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from grader.engine.session import Training
from grader.support.i18n import _

BAR = 24  # characters


class Line:
    """One line on the screen: which exercise is being graded and, while something trains, how far it is."""

    def __init__(self, show: Callable[[str], None]):
        self._show = show

    def __call__(self, name: str) -> None:
        self._show(_("grading {name}").format(name=name))

    def training(self, title: str, training: Training) -> None:
        self._show(bar(title, training))


def bar(title: str, training: Training) -> str:
    """ "train, reverse ━━━━━━───── 250/500 loss 0.312"."""
    full = BAR * training.done // max(1, training.steps)
    loss = "" if training.loss is None else _(" loss {loss:.3f}").format(loss=training.loss)
    return f"{title} {'━' * full}{'─' * (BAR - full)} {training.done}/{training.steps}{loss}"


@contextlib.contextmanager
def line(quiet: bool) -> Iterator[Line]:
    """Yield what shows how far the grading is; nothing is left on the screen."""
    if quiet or not sys.stderr.isatty():
        yield Line(lambda text: None)
        return
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    with console.status(_("starting")) as status:
        yield Line(status.update)
