"""Folders that tell whose they are, so that those of the killed can be removed by whoever comes next."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def owned(folder: Path, name: str) -> str:
    """A prefix for scratch folders of this process. Removes those in `folder` whose process is no more."""
    for left in folder.glob(f"{name}-*-*"):
        owner = left.name.removeprefix(f"{name}-").split("-")[0]
        if owner.isdigit() and not _is_alive(int(owner)):
            shutil.rmtree(left, ignore_errors=True)
    return f"{name}-{os.getpid()}-"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's, or the system cannot say: leave it alone
        return True
    return True
