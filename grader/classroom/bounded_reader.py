"""Read files of students in a process with a memory limit and a time limit.

Parsers and unpackers are hard to bound. Whatever one file does to this process costs that file only: the process is
replaced, and the next file is read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from grader.engine.process_pool import Connection, context, uninterrupted
from grader.support.errors import GraderError
from grader.support.i18n import _

MEMORY = 1 << 30  # bytes of address space
SECONDS = 30.0

T = TypeVar("T")


class Unreadable(GraderError):
    """The file could not be read within the limits; the message is a clause without its name."""


class BoundedReader:
    """A process that calls functions, started when it is first needed. Use as a context."""

    def __init__(self, memory: int = MEMORY, seconds: float = SECONDS):
        self._memory, self._seconds = memory, seconds
        self._process: BaseProcess | None = None
        self._connection: Connection[Any, Any]

    def __enter__(self) -> BoundedReader:
        return self

    def __exit__(self, *error: Any) -> None:
        self.close()

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function of a module in the process. Raises Unreadable, or the GraderError that it raises."""
        if self._process is None:
            self._start()
        self._connection.send((function, arguments))
        try:
            if not self._connection.poll(self._seconds):
                raise self._exceeded(_("takes more than {n:.0f} seconds to read").format(n=self._seconds))
            value, error = self._connection.recv()
        except (EOFError, OSError):
            raise self._exceeded(_("crashed the process that read it")) from None
        if error == "MemoryError":
            raise self._exceeded(_("takes more than {n} MiB of memory to read").format(n=self._memory >> 20))
        if isinstance(error, GraderError):
            raise error
        if error is not None:
            raise Unreadable(_("cannot be read ({error})").format(error=error))
        result: T = value
        return result

    def _start(self) -> None:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each of its threads reserves address space
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._memory), daemon=True)
        with uninterrupted():
            self._process.start()
        theirs.close()

    def _exceeded(self, why: str) -> Unreadable:
        self.close()
        return Unreadable(why)

    def close(self) -> None:
        """End the process; the next call starts another. Safe to call twice."""
        if self._process is not None:
            self._connection.close()
            self._process.kill()
            self._process.join()
            self._process = None


def _serve(connection: Connection[Any, Any], memory: int) -> None:
    if sys.platform != "win32":
        import resource

        with suppress(ValueError, OSError):  # macOS has no such limit
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    with suppress(EOFError, OSError):
        while True:
            function, arguments = connection.recv()
            connection.send(_answer(function, arguments))


def _answer(function: Callable[..., object], arguments: tuple[Any, ...]) -> tuple[object, object]:
    """(value, None), or (None, what was raised); exceptions of others need not survive the pipe."""
    try:
        return function(*arguments), None
    except GraderError as error:
        return None, error
    except BaseException as error:
        return None, type(error).__name__
