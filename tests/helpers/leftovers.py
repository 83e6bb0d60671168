"""What a test could leave on the machine: processes, files, mounts, sockets, shared memory."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import time
from pathlib import Path

PATIENCE = 10.0  # seconds that a killed process may take to go


def traces() -> dict[str, list[str]]:
    """What is there now. Off Linux only files can be told."""
    # Without torch's own cache, which it makes for whoever looks at its compiler, and without a browser's.
    files = [
        name
        for name in sorted(os.listdir(tempfile.gettempdir()))
        if not name.startswith(("torchinductor_", "org.chromium."))
    ]
    found = {"temporary files": files}
    if sys.platform == "linux":
        segments = Path("/proc/sysvipc/shm")
        found |= {
            "processes": _children(),
            "sockets": _listening(),
            "mounts": Path("/proc/self/mountinfo").read_text().splitlines(),
            # Without the locks that Python programs beside this one make.
            "shared memory": [n for n in sorted(os.listdir("/dev/shm")) if not n.startswith("sem.mp-")],
            "segments": segments.read_text().splitlines()[1:] if segments.exists() else [],
        }
    return found


def left_since(before: dict[str, list[str]], seconds: float = PATIENCE) -> dict[str, list[str]]:
    """What is there now and was not before, once the killed have gone."""
    deadline = time.monotonic() + seconds
    while True:
        now = traces()
        left = {kind: [one for one in now[kind] if one not in before[kind]] for kind in before}
        left = {kind: names for kind, names in left.items() if names}
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.02)


def _children() -> list[str]:
    """Processes that this one started and that run: "4711 python"."""
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
            # Python keeps one process for the locks of those that it shares work with.
            if rest.split()[0] != "Z" and "resource_tracker" not in command:
                out.append(f"{pid} {name}")
    return sorted(out)


def _listening() -> list[str]:
    """Inodes of sockets of this process that wait for connections."""
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
