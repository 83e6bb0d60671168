"""Make each kind of thing that an option such as `--output` may name, and see whether a command leaves it what it is."""

import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers.command_line import HANGS_AFTER

OLD = b"what was there before"
KINDS = ("new", "file", "link", "dangling link", "device", "pipe", "socket")


@contextmanager
def target(folder: Path, kind: str) -> Iterator[tuple[Path, Callable[[], bytes | None]]]:
    """Yield a path, and a function that returns what was written to it; None for a device, which forgets it, and for a socket.

    The function asserts that the path is still what it was. The device is a null device of the test's own: a test must
    never touch /dev/null, which a fault would destroy for the whole machine.
    """
    folder.mkdir()
    path, real, arrived = folder / "target", folder / "real" / "file", []
    real.parent.mkdir()
    if kind == "device":
        null_device(path)
    elif kind == "pipe":
        os.mkfifo(path)
        os.link(path, real)  # to reach the reader at the end, whatever happens to the path
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(os.path.relpath(path))  # the name of a socket has at most 107 bytes
    elif "link" in kind:
        path.symlink_to(real)
    file = real if "link" in kind else path
    if kind in ("file", "link"):
        file.write_bytes(OLD)
        file.chmod(0o640)
    before = path.lstat() if kind != "new" else None

    reader = threading.Thread(target=lambda: arrived.append(path.read_bytes()), daemon=True)
    if kind == "pipe":
        reader.start()

    def written() -> bytes | None:
        if kind == "device":
            assert path.lstat().st_rdev == before.st_rdev, "the device is still there"
            return None
        if kind == "socket":
            assert path.is_socket(), "the socket is still there"
            return None
        if kind == "pipe":
            assert path.is_fifo(), "the pipe is still there"
            reader.join(HANGS_AFTER)
            return arrived[0]
        assert path.is_symlink() == ("link" in kind)
        assert [one.name for one in file.parent.iterdir() if one.is_file()] == [file.name], "nothing is left"
        assert kind not in ("file", "link") or file.stat().st_mode & 0o777 == 0o640
        return file.read_bytes()

    try:
        yield path, written
    finally:
        while reader.is_alive():  # until it has opened the pipe, and found its end
            os.close(os.open(real, os.O_RDWR))
            reader.join(0.05)


def null_device(path: Path) -> None:
    """Make a null device. Skip the test if this user may not."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        path.write_bytes(b"")  # a file system that is mounted without devices refuses
    except OSError as error:
        pytest.skip(f"NOT TESTED: this user cannot make a device of its own ({error})")
