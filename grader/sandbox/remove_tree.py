"""Remove a folder that hostile code filled: any depth, any permissions below it, no link followed."""

from __future__ import annotations

import os
import stat

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)


def remove_tree(path: str) -> None:
    """Remove `path` and all below it. The process that filled it must be dead: nothing may change meanwhile.

    Walks with one descriptor, down by name and up by "..". So a deep tree needs no recursion, no more descriptors, and
    no path that is too long for the kernel. Does nothing if `path` does not exist. Raises OSError.
    """
    try:
        here = os.open(path, _FOLDER)
    except FileNotFoundError:
        return
    entered: list[str] = []  # the names of the folders below `path`, down to `here`
    left = [os.listdir(here)]  # for `path` and each of these folders: the names that are not removed yet
    try:
        while left[-1] or entered:
            if not left[-1]:
                here = _move(here, "..")
                left.pop()
                os.rmdir(entered.pop(), dir_fd=here)
            elif _is_folder(here, name := left[-1].pop()):
                # The name cannot have become a link since `_is_folder`: no process is left to replace it.
                os.chmod(name, 0o700, dir_fd=here)
                here = _move(here, name)
                left.append(os.listdir(here))
                entered.append(name)
            else:
                os.unlink(name, dir_fd=here)
    finally:
        os.close(here)
    os.rmdir(path)


def _move(here: int, name: str) -> int:
    there = os.open(name, _FOLDER, dir_fd=here)
    os.close(here)
    return there


def _is_folder(here: int, name: str) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=here, follow_symlinks=False).st_mode)
