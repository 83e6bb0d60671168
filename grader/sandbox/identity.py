"""The user of a worker. Under root, a worker becomes a user that owns nothing and shares no limits."""

from __future__ import annotations

import os
import sys

from grader.sandbox.base import SandboxError

if sys.platform != "linux":
    raise ImportError("this module needs Linux")

_FIRST_USER, _USERS = 61_184, 4_096  # the range that Linux systems keep for short-lived users


def worker_ids(number: int, mapped: str) -> tuple[int, int] | None:
    """Return (user, group) for worker `number`; None if this process is not root or the user is not mapped.

    Workers get different users, until 4096 numbers are used. So a worker that uses up its threads takes none from
    another worker. `mapped` is the result of `uid_map`: in a container, the range of users may be missing.
    """
    if os.geteuid() != 0:
        return None
    user = _FIRST_USER + number % _USERS
    ranges = (tuple(map(int, line.split())) for line in mapped.splitlines())
    return (user, user) if any(first <= user < first + count for first, _, count in ranges) else None


def become(ids: tuple[int, int]) -> None:
    """Change to this (user, group) for good. Raises SandboxError."""
    user, group = ids
    try:
        os.setgroups([])
        os.setresgid(group, group, group)
        os.setresuid(user, user, user)
    except OSError as error:
        raise SandboxError(f"change to user {user}: {error.strerror}") from None


def count_as(ids: tuple[int, int]) -> None:
    """Change the real user but keep root's access to files, for a Python that only root can read.

    The limit on threads counts by real user and does not apply to root. Without capabilities and
    inside the tier, root's only remaining right is to read the visible files. Raises SandboxError.
    """
    user, group = ids
    try:
        os.setgroups([])
        os.setresgid(group, 0, 0)
        os.setresuid(user, 0, 0)
    except OSError as error:
        raise SandboxError(f"change the real user to {user}: {error.strerror}") from None


def others_can_read(path: str) -> bool:
    """Return whether a user that owns nothing may read `path`, and pass through every folder above it."""
    real = os.path.realpath(path)
    try:
        while real != "/":
            real = os.path.dirname(real)
            if not os.stat(real).st_mode & 0o001:
                return False
        return bool(os.stat(path).st_mode & 0o004)
    except OSError:
        return False


def uid_map() -> str:
    """Return the text of /proc/self/uid_map: the users of this user namespace."""
    with open("/proc/self/uid_map", encoding="ascii") as file:
        return file.read()
