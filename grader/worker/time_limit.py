"""Stop student code that uses too much CPU time, or that waits too long.

CPU time does not depend on how busy the machine is. Windows has no such timers: there, only the timeout of the parent
applies.
"""

from __future__ import annotations

import contextlib
import faulthandler
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType

TICKS = 10  # code waits too long if it does nothing in as many ticks in a row
BUSY = 0.001  # seconds of CPU time per tick; code that uses less does nothing, but starved code gets more


class TooLongError(BaseException):
    """The code took longer than its time limit."""


@contextlib.contextmanager
def cpu_limit(seconds: float, again: float = 0.05) -> Iterator[None]:
    """Raise TooLongError in the code after this CPU time, and then every `again` seconds: code may catch it."""
    if sys.platform == "win32":
        yield
        return
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, again)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise TooLongError


class LoadLimit:
    """The time limit of the top level of a file. It knows which statement runs.

    seconds: of CPU time, for all statements together. A statement may also wait, without computing, for so many seconds
    in a row.
    """

    def __init__(self, seconds: float):
        self._seconds, self._tick = seconds, seconds / TICKS
        self._ticks = 0
        self._used = 0.0
        self.is_over = False
        self.statement: tuple[str, int] | None = None

    def begin(self, file: str, line: int) -> None:
        """Note the statement that runs next. Raises TooLongError if the time is over: code may catch the exception."""
        if self.is_over:
            raise TooLongError
        self.statement = file, line

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Within the context, raise TooLongError in the code when the time is over."""
        if sys.platform == "win32":
            yield
            return
        with contextlib.suppress(TooLongError), cpu_limit(self._seconds, again=0.5):
            signal.signal(signal.SIGPROF, self._over)
            # Code within one call of C notices no exception. The parent then finds the statement in this stack.
            faulthandler.register(signal.SIGPROF, sys.__stderr__ or 2, chain=True)
            signal.signal(signal.SIGALRM, self._count)
            signal.setitimer(signal.ITIMER_REAL, self._tick)
            try:
                yield
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                faulthandler.unregister(signal.SIGPROF)

    def _over(self, _number: int, _frame: FrameType | None) -> None:
        self.is_over = True
        raise TooLongError

    def _count(self, number: int, frame: FrameType | None) -> None:
        """Count the ticks in a row in which the code did nothing. One timer ends before the next begins: a process that
        was stopped gets only one tick for all that time.
        """
        used = time.process_time()
        self._ticks = self._ticks + 1 if used - self._used < BUSY else 0
        self._used = used
        if sys.platform != "win32":  # `running` sets no timer there
            signal.setitimer(signal.ITIMER_REAL, self._tick)
        if self._ticks >= TICKS:
            self._over(number, frame)
