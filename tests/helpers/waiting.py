"""Wait until something holds, such as the end of a process."""

import time
from collections.abc import Callable

import psutil


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Wait, and return whether `holds` returns True within `seconds`."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def runs(process: psutil.Process) -> bool:
    """Return whether a process has not ended. A zombie has ended; its parent may never reap it."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
