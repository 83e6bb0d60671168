"""System calls that confine a process. Tests make them in new processes, because most of them cannot be undone."""

import socket
from itertools import pairwise

import pytest

from grader.sandbox import kernel, landlock
from grader.sandbox.base import SandboxError


def test_a_refused_call_names_its_step():
    with pytest.raises(SandboxError, match=r"^enter Landlock: "):
        kernel.syscall("enter Landlock", "landlock_restrict_self", -1, 0)
    with pytest.raises(SandboxError, match=r"^return to the pids: Bad file descriptor$"):
        kernel.syscall("return to the pids", "setns", -1, kernel.CLONE_NEWPID)
    with pytest.raises(SandboxError, match=r"^change a thing: Invalid argument$"):
        kernel.syscall("change a thing", "prctl", 9999)
    assert kernel.probe("landlock_restrict_self", -1, 0) == -1


def test_a_process_dies_with_its_parent(run_python):
    done = run_python("""
        import os, signal, time
        from grader.sandbox import kernel
        read, write = os.pipe()
        if os.fork() == 0:  # the parent, which kills itself
            parent = os.getpid()
            if os.fork() == 0:  # the child, which must die too
                kernel.die_with_parent(parent)
                os.write(write, b"ready")
                time.sleep(60)
            os.read(read, 5)
            os.kill(parent, signal.SIGKILL)
        os.close(write)
        os.wait()
        # `read` returns when the last process with `write` is dead: the child.
        print("closed" if os.read(read, 1) == b"" else "still open")
        kernel.die_with_parent(999_999_999)  # a parent that has ended
        print("survived")
        """)
    assert (done.returncode, done.stdout) == (1, "closed\n"), done.stderr


# Print what a process with these grants may do: read, write, list; other folders; programs; the network.
RESTRICTED = """
import os, socket, sys
from grader.sandbox import kernel, landlock
folder, port = sys.argv[1], int(sys.argv[2])
rules = landlock.Ruleset([folder + "/read", folder + "/not-there"], scratch=folder + "/write")
rules.allow([folder + "/list"], landlock.LIST)
kernel.forbid_new_privileges()
rules.restrict()
def attempt(name, act, *arguments):
    try:
        act(*arguments)
        print(name)
    except PermissionError:
        pass
for place in ("read", "write", "list", "other"):
    attempt(f"read {place}", open, f"{folder}/{place}/file")
    attempt(f"write {place}", open, f"{folder}/{place}/file", "w")
    attempt(f"list {place}", os.listdir, f"{folder}/{place}")
attempt("remove", os.unlink, folder + "/read/file")
attempt("make a folder", os.mkdir, folder + "/write/new")
attempt("run", os.execv, "/bin/true", ["true"])
attempt("connect", socket.socket().connect, ("127.0.0.1", port))  # reads no file, unlike create_connection
"""
GRANTED = {"read read", "list read", "read write", "write write", "list write", "list list", "make a folder"}


def test_landlock_refuses_what_is_not_granted(run_python, tmp_path):
    if not landlock.version():
        pytest.skip("this kernel has no Landlock")
    for name in ("read", "write", "list", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("text")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        done = run_python(RESTRICTED, str(tmp_path), str(listener.getsockname()[1]))
    granted = GRANTED if landlock.version() >= 4 else GRANTED | {"connect"}
    assert set(done.stdout.splitlines()) == granted, done.stderr


def test_a_newer_landlock_version_has_all_older_rights():
    versions = [landlock.everything(abi) for abi in range(1, 8)]
    # A bit per right: 13 in version 1, 16 in version 7.
    assert versions[0] == (1 << 13) - 1
    assert versions[-1] == (1 << 16) - 1
    assert all(old & new == old for old, new in pairwise(versions))


def test_a_kernel_without_landlock_raises_a_sandbox_error(monkeypatch):
    monkeypatch.setattr(landlock, "version", lambda: 0)
    with pytest.raises(SandboxError, match="no Landlock"):
        landlock.Ruleset(["/"], "/tmp")
