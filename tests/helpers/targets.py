"""Make each kind of thing that an option such as `--output` may name, and see whether a command leaves it what it is."""

import os
import socket
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from helpers.command_line import HANGS_AFTER

OLD = b"what was there before"
KINDS = ("new", "file", "link", "dangling link", "device", "pipe", "socket")


@contextmanager
def target(folder: Path, kind: str) -> Iterator[tuple[Path, Callable[[], bytes | None]]]:
    """Yield a path, and a function that returns what was written to it; None for a device, which forgets it.

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
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(os.path.relpath(path))  # the name of a socket has at most 107 bytes
        listening.listen()
    elif "link" in kind:
        path.symlink_to(real)
    file = real if "link" in kind else path
    if kind in ("file", "link"):
        file.write_bytes(OLD)
        file.chmod(0o640)
    before = path.lstat() if kind != "new" else None

    def receive() -> None:
        if kind == "pipe":
            arrived.append(path.read_bytes())
            return
        with suppress(OSError):  # closed below, if nothing connects
            peer, _address = listening.accept()
            with peer, peer.makefile("rb") as stream:
                arrived.append(stream.read())

    reader = threading.Thread(target=receive, daemon=True)
    if kind in ("pipe", "socket"):
        reader.start()

    def written() -> bytes | None:
        if kind == "device":
            assert path.lstat().st_rdev == before.st_rdev, "the device is still there"
            return None
        if kind in ("pipe", "socket"):
            assert stat.S_IFMT(path.lstat().st_mode) == stat.S_IFMT(before.st_mode), "it is still there"
            reader.join(HANGS_AFTER)
            return arrived[0]
        assert path.is_symlink() == ("link" in kind)
        assert [one.name for one in file.parent.iterdir() if one.is_file()] == [file.name], "nothing is left"
        assert kind not in ("file", "link") or file.stat().st_mode & 0o777 == 0o640
        return file.read_bytes()

    try:
        yield path, written
    finally:
        if kind == "socket":
            listening.shutdown(socket.SHUT_RDWR)
            listening.close()
        while reader.is_alive():  # until it has opened the pipe, and found its end
            if kind == "pipe":
                os.close(os.open(real, os.O_RDWR))
            reader.join(0.05)


def null_device(path: Path) -> None:
    """Make a null device. Skip the test if this user may not."""
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        path.write_bytes(b"")  # a file system that is mounted without devices refuses
    except OSError as error:
        pytest.skip(f"NOT TESTED: this user cannot make a device of its own ({error})")
