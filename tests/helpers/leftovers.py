"""What a test could leave behind: processes, files, mounts, sockets, shared memory.

Only traces of this process and its descendants count. Other programs on the machine come and go.
"""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import time
from pathlib import Path

from grader.sandbox import kernel
from grader.sandbox.base import SandboxError

SECONDS = 60.0  # that a killed process may take to go
SHARED_MEMORY = "/dev/shm"

_isolated = False


def isolate() -> None:
    """Give this process and its descendants their own mounts, shared memory and System V segments.

    Nothing records who made an entry of /dev/shm, so only a private one tells ours from others'.
    A process that lacks the right to do this cannot leave a mount either; then `traces` leaves
    out all three kinds. Call this before the first thread starts: it holds for the calling thread.
    """
    global _isolated
    if sys.platform != "linux" or _isolated:
        return
    try:
        kernel.unshare("make namespaces for the tests", kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC)
        kernel.make_mounts_private()
        kernel.mount("make shared memory for the tests", "shm", SHARED_MEMORY, "tmpfs", 0, "mode=1777")
    except SandboxError:
        return
    _isolated = True


def is_isolated() -> bool:
    """Whether `isolate` succeeded, so that mounts and shared memory are traced."""
    return _isolated


def traces() -> dict[str, list[str]]:
    """List what is there now, by kind. Off Linux only files are listed."""
    # Without torch's own cache, which torch makes when something looks at its compiler, and a browser's.
    files = [
        name
        for name in sorted(os.listdir(tempfile.gettempdir()))
        if not name.startswith(("torchinductor_", "org.chromium."))
    ]
    found = {"temporary files": files}
    if sys.platform == "linux":
        found |= {"processes": _children(), "sockets": _listening()}
    if _isolated:
        found |= {
            "mounts": Path("/proc/self/mountinfo").read_text().splitlines(),
            # Without the locks that multiprocessing in a test's descendants makes and removes late.
            "shared memory": [n for n in sorted(os.listdir(SHARED_MEMORY)) if not n.startswith("sem.mp-")],
            "segments": Path("/proc/sysvipc/shm").read_text().splitlines()[1:],
        }
    return found


def left_since(before: dict[str, list[str]], seconds: float = SECONDS) -> dict[str, list[str]]:
    """List what is there now and was not before, once killed processes have gone."""
    deadline = time.monotonic() + seconds
    while True:
        now = traces()
        left = {kind: [one for one in now[kind] if one not in before[kind]] for kind in before}
        left = {kind: names for kind, names in left.items() if names}
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.02)


def _children() -> list[str]:
    """List running children of this process, such as "4711 python"."""
    out = []
    for thread in Path("/proc/self/task").iterdir():
        try:
            pids = (thread / "children").read_text().split()
        except OSError:
            continue
        for pid in pids:
            try:
                name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
                command = Path(f"/proc/{pid}/cmdline").read_text()
            except OSError:
                continue
            # Python keeps one process to clean up locks of its pools.
            if rest.split()[0] != "Z" and "resource_tracker" not in command:
                out.append(f"{pid} {name}")
    return sorted(out)


def _listening() -> list[str]:
    """List the inodes of listening sockets of this process."""
    own = []
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{descriptor}")
            if target.startswith("socket:[") and _listens(int(descriptor)):
                own.append(target[8:-1])
        except OSError:
            continue
    return sorted(own)


def _listens(descriptor: int) -> bool:
    with socket.socket(fileno=os.dup(descriptor)) as copy:
        return bool(copy.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN))
