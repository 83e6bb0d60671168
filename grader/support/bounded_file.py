"""Read files that others may have written: up to a size, and without waiting for a pipe."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from grader.support.i18n import _


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading. Raises OSError for anything else, such as a pipe, whose `open` would wait."""
    return open(path, "rb", opener=_regular)


def read_regular(path: Path, most: int = -1) -> bytes:
    """Return the first `most` bytes of a regular file, by default all. Raises OSError as `open_regular` does."""
    with open_regular(path) as file:
        return file.read(most)


def _regular(path: str, flags: int) -> int:
    file = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # Windows has no such flag, and no such pipes
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(errno.EINVAL, _("it is not a regular file"), path)
    return file


def read_within(path: Path, most: int, *, pipes: bool = False) -> bytes:
    """Return the content of a file of at most `most` bytes. pipes: it may be a pipe, whose writer is awaited.

    Raises OSError if it cannot be read, and ValueError if it is larger; the message is a clause, not a sentence.
    """
    with path.open("rb") if pipes else open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        size = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"
        raise ValueError(_("it is larger than {size}").format(size=size))
    return data
