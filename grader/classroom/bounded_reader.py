"""Read files of others, such as students, in a process with a time limit and, on Linux, a memory limit.

Parsers and unpackers are hard to bound. If a file crashes the process or exceeds a limit, only that file is not read:
another process reads the next file.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

from grader.engine.process_pool import Lost, ProcessPool
from grader.support.errors import BadData, GraderError
from grader.support.i18n import _

MEMORY = 1 << 30  # bytes of address space
SECONDS = 30.0  # per call

T = TypeVar("T")


class BoundedReader(ProcessPool[Any, Any]):
    """A process that calls functions, started when it is first needed. Use as a context."""

    def __init__(self, seconds: float = SECONDS):
        super().__init__(1, _reading, seconds=lambda task: seconds)
        self._limit = seconds

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function of a module in the process; return its value.

        Raises BadData beyond a limit, with a clause that does not name the file, or the GraderError that the function
        raises.
        """
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each thread of OpenBLAS reserves address space
        try:
            ((_task, answer),) = self.run([(function, arguments)])
        except Exception:  # the process could not receive the call, or send its result
            self.close()
            answer = Lost("exited")
        if isinstance(answer, Lost) and answer.why == "timeout":
            raise BadData(_("takes more than {n:.0f} seconds to read").format(n=self._limit))
        if isinstance(answer, Lost):
            raise BadData(_("crashed the process that read it"))
        value, error = answer
        if error == "MemoryError":
            self.close()
            raise BadData(_("takes more than {n} MiB of memory to read").format(n=MEMORY >> 20))
        if isinstance(error, GraderError):
            raise error
        if error is not None:
            raise BadData(_("cannot be read ({error})").format(error=error))
        result: T = value
        return result


@contextmanager
def _reading() -> Iterator[Callable[[tuple[Callable[..., object], tuple[Any, ...]]], tuple[object, object]]]:
    if sys.platform != "win32":
        import resource

        with suppress(ValueError, OSError):  # macOS has no such limit
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    yield _answer


def _answer(call: tuple[Callable[..., object], tuple[Any, ...]]) -> tuple[object, object]:
    """Return (value, None), or (None, a GraderError), or (None, the class name of any other exception)."""
    function, arguments = call
    try:
        return function(*arguments), None
    except GraderError as error:
        return None, error
    except BaseException as error:
        return None, type(error).__name__
