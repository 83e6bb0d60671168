"""The guard: a small process beside the fork-server that ends it when the parent ends.

It watches the parent itself, through a process descriptor, and a pipe that only the parent holds.
A death signal of the kernel would not do: it follows the parent's thread, not the parent, and
the server may be busy importing torch when the parent is killed.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterable


def watch(parent: int) -> int:
    """A descriptor that becomes readable when `parent` ends; exits where it already has."""
    descriptor = os.pidfd_open(parent)
    if os.getppid() != parent:
        os._exit(1)
    return descriptor


def stand(server: int, leashes: Iterable[int]) -> int:
    """Wait until the server ends or a leash becomes readable, then end the server. Gives its exit code."""
    its_end = os.pidfd_open(server)
    poll = select.poll()
    for descriptor in (its_end, *leashes):
        poll.register(descriptor, select.POLLIN)
    while not poll.poll():
        continue
    signal.pidfd_send_signal(its_end, signal.SIGKILL)
    _, status = os.waitpid(server, 0)
    return abs(os.waitstatus_to_exitcode(status))
