"""Make the file of a store for its user alone, and refuse a file that others may have made or changed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from grader.support.errors import GraderError
from grader.support.i18n import _


class BadStore(GraderError):
    """The store cannot be used."""


def claim(path: Path) -> None:
    """Make the file with mode 600 if it is missing.

    Raises BadStore unless it and SQLite's files beside it are files of this user that others cannot write to.
    """
    _require_ours(path)
    flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    os.close(os.open(path, flags, 0o600))
    for suffix in ("", "-wal", "-shm", "-journal"):
        _require_ours(path.with_name(path.name + suffix))


def _require_ours(path: Path) -> None:
    """Raise BadStore for a link, another user's file, or one that other users can write to."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise BadStore(_("{path} is a symbolic link; name another store with --store").format(path=path))
    if not stat.S_ISREG(found.st_mode):
        raise BadStore(_("{path} is not a file; name another store with --store").format(path=path))
    if not hasattr(os, "geteuid"):  # Windows: not checked; the cache of a user is private
        return
    if found.st_uid != os.geteuid():
        raise BadStore(_("{path} belongs to another user; name another store with --store").format(path=path))
    if stat.S_IMODE(found.st_mode) & 0o022:
        raise BadStore(
            _(
                "other users can write to {path}; remove their write permission (chmod go-w), or name another store with --store"
            ).format(path=path)
        )
