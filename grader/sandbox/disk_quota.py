"""A disk quota for tiers that cannot mount a tmpfs: the worker's folder is on the machine's disk.

The kernel enforces it. RLIMIT_FSIZE limits each file. A seccomp filter stops every call that makes a file or
folder, until the supervisor answers; the supervisor allows ENTRIES of them per worker. So a worker never takes more
than ENTRIES files of `file_bytes(limits)` each, whatever it deletes, hides or maps.

The supervisor counts calls and measures the folder. It does not read the path in the worker's memory: the worker's
threads could change the path after the check.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import struct
import sys
from dataclasses import dataclass

from grader.sandbox import kernel, packets, seccomp
from grader.sandbox.base import Limits

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

ENTRIES = 64  # calls in a worker's life that may make a file or folder; opening an existing file with O_CREAT counts
_SHARE = 4  # one file may take a quarter of the bytes of all files

_RECEIVE, _ANSWER = 0xC0502100, 0xC0182101  # SECCOMP_IOCTL_NOTIF_RECV and _SEND
_NOTICE_BYTES = 80  # struct seccomp_notif: id, pid, flags, struct seccomp_data
_CONTINUE = 1  # SECCOMP_USER_NOTIF_FLAG_CONTINUE


def file_bytes(limits: Limits) -> int:
    """Return the size that one file may have. All visible files together may have `limits.file_bytes`."""
    return limits.file_bytes // _SHARE


def enforce(number: int, limits: Limits, supervisor: int) -> None:
    """In worker `number`: make the kernel ask the supervisor before each call that may make a file or folder.

    supervisor: the descriptor of the socket to the supervisor; this function closes it.

    Call it after `kernel.forbid_new_privileges`, and before the filter that forbids sockets.
    """
    listener = kernel.load_filter(seccomp.asking_program(), asking=True)
    with socket.socket(fileno=supervisor) as end:
        packets.send(end, {"number": number, "bytes": limits.file_bytes}, [listener])
    os.close(listener)


@dataclass
class _Account:
    folder: str
    bytes_: int
    entries: int = 0


class DiskQuota:
    """The supervisor's side: answers the workers of one server, whose folders are `folder`/NUMBER.

    workers_end: the socket whose descriptor workers pass to `enforce`.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._listening, self.workers_end = packets.pair()
        self._accounts: dict[int, _Account] = {}

    @property
    def descriptors(self) -> list[int]:
        """Return the descriptors to poll; call `serve` for those that are ready."""
        return [self._listening.fileno(), *self._accounts]

    def serve(self, descriptor: int, event: int) -> None:
        """Open the account of a new worker, answer one call, or close the account of a dead worker.

        event: the event mask that `poll` returned with the descriptor.
        """
        if descriptor == self._listening.fileno():
            if (received := packets.receive(self._listening)) is not None:
                message, (listener,) = received
                folder = os.path.join(self._folder, str(message["number"]))
                self._accounts[listener] = _Account(folder, message["bytes"])
        elif event & select.POLLIN:
            _answer(descriptor, self._accounts[descriptor])
        else:  # POLLHUP: no process has the filter any more, and asking for a call would block
            del self._accounts[descriptor]
            os.close(descriptor)


def _answer(listener: int, account: _Account) -> None:
    """Allow or refuse one call. If its thread died meanwhile, there is nothing to answer."""
    import fcntl

    notice = bytearray(_NOTICE_BYTES)
    with contextlib.suppress(OSError):
        fcntl.ioctl(listener, _RECEIVE, notice)
        account.entries += 1
        # The sum of visible files is a second, tighter limit for code that does not hide what it writes.
        refused = account.entries > ENTRIES or _visible_bytes(account.folder) >= account.bytes_
        (id_,) = struct.unpack_from("=Q", notice)
        error, flags = (-errno.EDQUOT, 0) if refused else (0, _CONTINUE)
        fcntl.ioctl(listener, _ANSWER, struct.pack("=QqiI", id_, 0, error, flags))


def _visible_bytes(folder: str) -> int:
    """Return the bytes of disk under `folder`, which holds at most ENTRIES entries. Links cannot be made there."""
    total = 0
    for path, _folders, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(path, name)).st_blocks * 512
            except OSError:
                continue  # removed meanwhile
    return total
