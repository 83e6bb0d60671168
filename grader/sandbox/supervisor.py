"""The supervisor: a small process beside the worker server, which kills the server when the parent ends.

It watches the parent through a process descriptor, and a pipe that only the parent holds. The kernel's death signal
is not enough: the kernel sends it when the parent's thread ends, not the parent. The server cannot watch, because it
may be busy importing torch when the parent is killed. For the same reason the supervisor serves the disk quota.
"""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Sequence

from grader.sandbox.disk_quota import DiskQuota

if sys.platform != "linux":
    raise ImportError("this module needs Linux")


def watch(parent: int) -> int:
    """Return a descriptor that becomes readable when `parent` ends; exit if it already has."""
    descriptor = os.pidfd_open(parent)
    if os.getppid() != parent:
        os._exit(1)
    return descriptor


def supervise(server: int, parent_alive: Sequence[int], quota: DiskQuota | None) -> int:
    """Wait until the server or the parent ends, then kill the server. Return the server's exit code or signal.

    parent_alive: descriptors that become readable when the parent ends.
    """
    server_end = os.pidfd_open(server)
    while not _wait((server_end, *parent_alive), quota):
        continue
    signal.pidfd_send_signal(server_end, signal.SIGKILL)
    _, status = os.waitpid(server, 0)
    return abs(os.waitstatus_to_exitcode(status))


def _wait(ends: Sequence[int], quota: DiskQuota | None) -> bool:
    """Wait for events. Return True if one of `ends` is readable; otherwise answer calls of workers."""
    poll = select.poll()
    asking = quota.descriptors if quota else []
    for descriptor in (*ends, *asking):
        poll.register(descriptor, select.POLLIN)
    ready = poll.poll()
    if any(descriptor in ends for descriptor, _ in ready):
        return True
    for descriptor, event in ready:
        if quota:
            quota.serve(descriptor, event)
    return False
