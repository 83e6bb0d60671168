"""Remove a folder that hostile code filled: any depth, any permissions, no link followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from itertools import count


def remove_tree(path: str) -> None:
    """Remove `path` and all below it. Its owner must be dead: nothing may change meanwhile.

    Nested folders are moved up to the top first, so depth costs no recursion and no long path.
    """
    try:
        top = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    fresh = (f"{os.urandom(8).hex()}-{number}" for number in count())  # no name that could lie there
    try:
        while names := os.listdir(top):
            for name in names:
                _remove_entry(top, name, fresh)
    finally:
        os.close(top)
    os.rmdir(path)


def _remove_entry(top: int, name: str, fresh: Iterator[str]) -> None:
    if not stat.S_ISDIR(os.stat(name, dir_fd=top, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=top)
        return
    os.chmod(name, 0o700, dir_fd=top)  # just seen to be a folder, and nobody is left to swap it
    folder = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
    try:
        for inner in os.listdir(folder):
            _lift(folder, inner, top, fresh)
    finally:
        os.close(folder)
    os.rmdir(name, dir_fd=top)


def _lift(folder: int, name: str, top: int, fresh: Iterator[str]) -> None:
    if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        os.chmod(name, 0o700, dir_fd=folder)  # moving a folder changes its "..", which needs write access
        os.rename(name, next(fresh), src_dir_fd=folder, dst_dir_fd=top)
    else:
        os.unlink(name, dir_fd=folder)
