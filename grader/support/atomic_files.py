"""Write a file so that a reader sees the old or the new content, even if the process is killed in between."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path

from grader.support.errors import CannotWrite
from grader.support.i18n import _


def write_atomically(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Replace `path` by `data` in one step: `path` has its old or its new content, never a part.

    A killed process may leave a temporary file beside `path`; on most file systems of Linux, only if it is
    killed between two system calls at the end. Raises CannotWrite with a sentence.
    """
    try:
        _write(path, data, mode)
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not path.parent.exists():
            raise CannotWrite(
                _("{file} cannot be written: there is no folder {folder}").format(
                    file=path, folder=path.parent
                )
            ) from None
        raise CannotWrite(
            _("{file} cannot be written: {reason}").format(file=path, reason=error.strerror)
        ) from None


def make_folder(path: Path) -> None:
    """Make a folder and those above it. Raises CannotWrite with a sentence."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotWrite(
            _("the folder {folder} cannot be made: {reason}").format(folder=path, reason=error.strerror)
        ) from None


def _write(path: Path, data: bytes, mode: int) -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # on a file system without unnamed files, go on to a named one
            return _by_unnamed_file(path, data, mode)
    return _by_named_file(path, data, mode)


def _by_named_file(path: Path, data: bytes, mode: int) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "wb") as file:  # closed before it is renamed: Windows renames no open file
            file.write(data)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


if sys.platform == "linux":

    def _by_unnamed_file(path: Path, data: bytes, mode: int) -> None:
        fd = os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, mode)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            with open(fd, "wb", closefd=False) as file:
                file.write(data)
            os.fchmod(fd, mode)
            ready = f".{path.name}.{os.getpid()}.new"  # complete from its first moment
            # Python follows the link under /proc to the file only if it gets the descriptor of a folder.
            os.link(f"/proc/self/fd/{fd}", ready, dst_dir_fd=folder, follow_symlinks=True)
            try:
                os.replace(ready, path.name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                os.unlink(ready, dir_fd=folder)
                raise
        finally:
            os.close(folder)
            os.close(fd)
