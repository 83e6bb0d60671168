"""Name temporary folders after the process that owns them, so that a later run can remove those of killed processes."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

_SYNCHRONIZE = 0x100000  # Windows' access right to wait for a process


def owned(folder: Path, name: str) -> str:
    """Return the prefix `name`-PID- for scratch folders of this process.

    Remove the scratch folders in `folder` whose process has ended.
    """
    for left in folder.glob(f"{name}-*-*"):
        owner = left.name.removeprefix(f"{name}-").split("-")[0]
        if owner.isdigit() and not _is_alive(int(owner)):
            shutil.rmtree(left, ignore_errors=True)
    return f"{name}-{os.getpid()}-"


def _is_alive(pid: int) -> bool:
    if sys.platform == "win32":  # there `os.kill` ends the process
        import ctypes

        kernel = ctypes.WinDLL("kernel32")
        handle = kernel.OpenProcess(_SYNCHRONIZE, False, pid)
        exited = bool(handle) and kernel.WaitForSingleObject(handle, 0) == 0
        if handle:
            kernel.CloseHandle(handle)
        return bool(handle) and not exited
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # the process belongs to another user, or the system cannot say
        return True
    return True
