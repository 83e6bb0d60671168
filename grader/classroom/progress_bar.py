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
    started = time.monotonic()
    if not sys.stderr.isatty():
        printed = started

        def print_line(done: int, fresh: int) -> None:
            nonlocal printed
            now = time.monotonic()
            if now - printed >= EVERY or done >= total:
                printed = now
                words = _("{done} of {total}").format(done=done, total=total)
                rate = speed(total - done, fresh, now - started)
                print(f"{words}  {rate}".rstrip(), file=sys.stderr, flush=True)

        yield print_line
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

        def show(done: int, fresh: int) -> None:
            rate = speed(total - done, fresh, time.monotonic() - started)
            progress.update(task, completed=done, speed=rate)

        yield show


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
