"""The check for leftovers reports what a test's descendants left, and ignores other processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from helpers.leftovers import SHARED_MEMORY, is_isolated, left_since, traces

NAME = "headway-left-on-purpose"
MOUNT_POINT = "/mnt"
MAKE = f"""
import ctypes, sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[1])!r})
from grader.sandbox import kernel
open("{SHARED_MEMORY}/{NAME}", "w").close()
print(ctypes.CDLL(None).shmget(0, 4096, 0o1600))  # IPC_CREAT, mode 600
kernel.mount("leave a mount", "{NAME}", "{MOUNT_POINT}", "tmpfs", 0)
"""
REMOVE = f"""
import ctypes, os, sys
os.unlink("{SHARED_MEMORY}/{NAME}")
ctypes.CDLL(None).shmctl(int(sys.argv[1]), 0, None)
ctypes.CDLL(None).umount2(b"{MOUNT_POINT}", 2)  # MNT_DETACH
"""
# Enter the namespaces of the parent of pytest, so that the code after it runs as an unrelated process would.
OUTSIDE = f"""
import os, sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[1])!r})
from grader.sandbox import kernel
for name, kind in (("ipc", kernel.CLONE_NEWIPC), ("mnt", kernel.CLONE_NEWNS)):
    kernel.join_namespace(name, os.open("/proc/{os.getppid()}/ns/" + name, os.O_RDONLY), kind)
"""

needs_isolation = pytest.mark.skipif(not is_isolated(), reason="this user cannot make namespaces")


def run(source: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", source, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@needs_isolation
def test_shared_memory_and_mounts_count_only_if_the_test_made_them():
    """The check reports what a child made in the namespaces of the tests, and not what a child made outside them."""
    before = traces()
    segment = run(MAKE)
    left = left_since(before, seconds=0.0)
    run(REMOVE, segment)
    assert set(left) == {"shared memory", "segments", "mounts"}
    assert left["shared memory"] == [NAME]
    segment = run(OUTSIDE + MAKE)
    try:
        assert not left_since(before, seconds=0.0)
    finally:
        run(OUTSIDE + REMOVE, segment)


def test_a_child_that_still_runs_is_reported():
    before = traces()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        left = left_since(before, seconds=0.0)
        assert child.stdin is not None
        child.stdin.close()
    assert [kind for kind, names in left.items() if str(child.pid) in names[0]] == ["processes"]
    assert not left_since(before)


def test_a_file_in_the_temporary_folder_is_reported():
    before = traces()
    descriptor, path = tempfile.mkstemp()
    os.close(descriptor)
    assert left_since(before, seconds=0.0) == {"temporary files": [os.path.basename(path)]}
    os.unlink(path)
