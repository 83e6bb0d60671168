"""Files and folders of this program: written atomically, read within a limit, the cache folder, and scratch folders."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from grader.support.errors import CannotWrite
from grader.support.i18n import _


def write_atomically(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write a file that the user named: `path` has its old or its new content, never a part. Follow links.

    A regular file is replaced, and the new one gets its permissions; `mode` is for a file that is not there yet. A
    device, a pipe, and the standard output under any name stay: the data is written into them. A socket is refused.
    A killed process may leave a temporary file beside `path`. Raises CannotWrite with a sentence.
    """
    with _in_a_sentence(path):
        found = _status(path)
        stream = None if found is None else _standard_stream(found)
        if stream is not None:
            _write_into(os.dup(stream), data)
        elif found is None or stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
            _replace(Path(os.path.realpath(path)), data, stat.S_IMODE(found.st_mode) if found else mode)
        else:
            _write_into(path, data)


def write_own(path: Path, data: bytes) -> None:
    """Write a file of the grader in a folder where others may have put something else under its name.

    Raises CannotWrite for a link, a device, a pipe or a socket, and as `write_atomically` does.
    """
    with _in_a_sentence(path):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise OSError(errno.EINVAL, _("it is not a regular file"))
        write_atomically(path, data)


def make_folder(path: Path, mode: int = 0o777) -> None:
    """Make a folder and those above it. Raises CannotWrite with a sentence."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=mode)
    except OSError as error:
        raise CannotWrite(
            _("the folder {folder} cannot be made: {reason}").format(folder=path, reason=error.strerror)
        ) from None


@contextlib.contextmanager
def _in_a_sentence(path: Path) -> Iterator[None]:
    """Raise CannotWrite for an OSError."""
    try:
        yield
    except CannotWrite:
        raise
    except OSError as error:
        folder = Path(os.path.realpath(path)).parent if path.is_symlink() else path.parent
        if isinstance(error, FileNotFoundError) and not folder.exists():
            raise CannotWrite(
                _("{file} cannot be written: there is no folder {folder}").format(file=path, folder=folder)
            ) from None
        raise CannotWrite(
            _("{file} cannot be written: {reason}").format(file=path, reason=error.strerror or error)
        ) from None


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _standard_stream(found: os.stat_result) -> int | None:
    """Return 1 or 2 if the file is this process's standard output or error: what is in it already must stay."""
    for stream in (1, 2):
        with contextlib.suppress(OSError):  # it is closed
            if found.st_ino and os.path.samestat(os.fstat(stream), found):  # Windows: pipes have the number 0
                return stream
    return None


def _write_into(file: Path | int, data: bytes) -> None:
    with open(file, "wb") as opened:
        opened.write(data)


def _replace(path: Path, data: bytes, mode: int) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(descriptor, "wb") as file:  # closed before it is renamed: Windows renames no open file
            file.write(data)
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


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


def cache_folder() -> Path:
    """Return the grader's folder in the user's cache: `$XDG_CACHE_HOME/headway`, or the platform's default."""
    named = os.environ.get("XDG_CACHE_HOME")
    if named:
        return Path(named) / "headway"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "headway"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "headway"
    return Path.home() / ".cache" / "headway"


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
