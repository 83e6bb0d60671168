"""One line on the screen while the grader works."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

from grader.engine.session import Training
from grader.support.i18n import _

BAR_WIDTH = 24  # characters


class StatusLine:
    """Shows which exercise is recorded or graded and, during training, how far it is."""

    def __init__(self, show: Callable[[str], None]):
        self._show = show

    def __call__(self, text: str) -> None:
        self._show(text)

    def grading(self, name: str) -> None:
        self._show(_("grading {name}").format(name=name))

    def recorded(self, name: str, done: int, total: int) -> None:
        self._show(
            _("recorded {name}, {done} of {total} exercises").format(name=name, done=done, total=total)
        )

    def training(self, title: str, training: Training) -> None:
        self._show(training_bar(title, training))


def training_bar(title: str, training: Training) -> str:
    """Return a text such as "train, reverse ━━━━━━───── 250/500 loss 0.312"."""
    full = BAR_WIDTH * training.done // max(1, training.steps)
    bar = f"{title} {'━' * full}{'─' * (BAR_WIDTH - full)} {training.done}/{training.steps}"
    return bar if training.loss is None else _("{bar} loss {loss:.3f}").format(bar=bar, loss=training.loss)


@contextlib.contextmanager
def status_line(quiet: bool) -> Iterator[StatusLine]:
    """Yield a status line that disappears at the end; it shows nothing if `quiet`, or outside a terminal."""
    if quiet or not sys.stderr.isatty():
        yield StatusLine(lambda text: None)
        return
    from rich.console import Console

    console = Console(stderr=True, highlight=False)
    with console.status(_("starting")) as status:
        yield StatusLine(status.update)
