"""Find what a test leaves behind: processes, files, mounts, sockets, shared memory.

Processes are the children of this process, and sockets its own. Mounts and shared memory count if this process or a
descendant made them, files in the temporary folder always.
"""

import os
import socket
import sys
import tempfile
import time
from pathlib import Path

from grader.sandbox import kernel
from grader.sandbox.base import SandboxError

SECONDS = 60.0  # a killed process may take this long to disappear
SHARED_MEMORY = "/dev/shm"

_isolated = False


def isolate() -> None:
    """Give this process and its descendants their own mounts, shared memory and System V segments.

    An entry of /dev/shm does not show which process made it, so the tests need a /dev/shm of their own.
    If this process lacks the right, `traces` leaves out all three kinds. A process without the right makes no mounts.
    Call this before the first thread starts: it applies to the calling thread and its descendants.
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


def traces() -> dict[str, list[str]]:
    """Return the traces that exist now, by kind. On other systems than Linux, return only files."""
    # Leave out the cache of torch's compiler: torch makes it by itself.
    names = sorted(os.listdir(tempfile.gettempdir()))
    files = [name for name in names if not name.startswith("torchinductor_")]
    found = {"temporary files": files}
    if sys.platform == "linux":
        found |= {"processes": _children(), "sockets": _listening()}
    if _isolated:
        found |= {
            "mounts": Path("/proc/self/mountinfo").read_text().splitlines(),
            # Leave out the locks of multiprocessing, which a test's descendants remove late.
            "shared memory": [n for n in sorted(os.listdir(SHARED_MEMORY)) if not n.startswith("sem.mp-")],
            "segments": Path("/proc/sysvipc/shm").read_text().splitlines()[1:],
        }
    return found


def left_since(before: dict[str, list[str]], seconds: float = SECONDS) -> dict[str, list[str]]:
    """Return the traces that are not in `before`. Wait up to `seconds` for killed processes to disappear."""
    deadline = time.monotonic() + seconds
    while True:
        now = traces()
        left = {kind: [trace for trace in now[kind] if trace not in before[kind]] for kind in before}
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
                # The file starts with, for example, "4711 (python) S".
                name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
                command = Path(f"/proc/{pid}/cmdline").read_text()
            except OSError:
                continue
            # Leave out zombies, and the process that cleans up the locks of Python's pools.
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
