"""Show the progress of a run on standard error: a bar on a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from grader.support.i18n import _

EVERY = 5.0  # seconds between plain lines


@contextmanager
def live(total: int) -> Iterator[Callable[[int, int], None]]:
    """Yield a function (done, fresh) that shows progress, rate and time left. fresh: how many were graded now."""
    if not sys.stderr.isatty():
        yield _Plain(total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(_("grading"), total=total, speed="")
        started = time.monotonic()

        def show(done: int, fresh: int) -> None:
            progress.update(
                task, completed=done, speed=speed(total - done, fresh, time.monotonic() - started)
            )

        yield show


class _Plain:
    """Prints a line at the end, and before it at most one every EVERY seconds."""

    def __init__(self, total: int):
        self._total = total
        self._started = self._printed = time.monotonic()

    def __call__(self, done: int, fresh: int) -> None:
        now = time.monotonic()
        if now - self._printed < EVERY and done < self._total:
            return
        self._printed = now
        words = _("{done} of {total}").format(done=done, total=self._total)
        print(
            f"{words}  {speed(self._total - done, fresh, now - self._started)}".rstrip(),
            file=sys.stderr,
            flush=True,
        )


def speed(left: int, fresh: int, seconds: float) -> str:
    """Return a text such as "412 per minute, 0:23 left"; "" until two submissions were graded now.

    left: submissions that are not done. fresh: submissions graded in these seconds.
    """
    if fresh < 2 or seconds <= 0:
        return ""
    rate = fresh / seconds
    words = _("{rate:.0f} per minute").format(rate=60 * rate)
    if not left:
        return words
    minutes, rest = divmod(round(left / rate), 60)
    return words + _(", {minutes}:{seconds:02d} left").format(minutes=minutes, seconds=rest)
