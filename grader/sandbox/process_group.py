"""A worker of the basic tier and all that it starts, as a process group. POSIX only: Linux and macOS."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import Any

from grader.sandbox.base import Limits

if sys.platform == "win32":
    raise ImportError("this module needs a POSIX system")

START_OPTIONS: dict[str, Any] = {"start_new_session": True}


def python() -> str:
    """Return the Python to start workers with."""
    return sys.executable


class ProcessTree:
    """Kills the worker's whole process group. A process that has left the group runs until its own limits."""

    def __init__(self, leader: subprocess.Popen[bytes]):
        self._leader = leader

    def limit(self, limits: Limits) -> None:
        """Do nothing: the worker limits itself before it runs student code."""

    def kill(self) -> None:
        with contextlib.suppress(OSError):
            os.killpg(self._leader.pid, signal.SIGKILL)

    def close(self) -> None:
        """Do nothing: a process group needs no descriptor."""
