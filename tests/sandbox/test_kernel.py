"""The functions of `grader.sandbox.kernel` make system calls, and an error names the step that failed."""

from __future__ import annotations

import os

import pytest

from grader.sandbox import kernel
from grader.sandbox.base import SandboxError


def test_a_refused_call_names_its_step():
    with pytest.raises(SandboxError, match=r"^enter Landlock: "):
        kernel.syscall("enter Landlock", "landlock_restrict_self", -1, 0)
    with pytest.raises(SandboxError, match=r"^return to the pids: Bad file descriptor$"):
        kernel.join_namespace("return to the pids", -1, kernel.CLONE_NEWPID)
    with pytest.raises(SandboxError, match=r"^change a thing: Invalid argument$"):
        kernel.prctl("change a thing", 9999)


def test_a_refused_probe_returns_minus_one():
    assert kernel.probe("landlock_restrict_self", -1, 0) == -1


def test_all_but_the_given_descriptors_are_closed(run_python):
    done = run_python("""
        import os
        from grader.sandbox import kernel
        made = [os.dup(1) for _ in range(6)]
        kernel.close_descriptors_except({0, 1, 2, made[1], made[4]})
        for number in made:
            try:
                os.fstat(number)
                print("open", number - made[0])
            except OSError:
                pass
        """)
    assert done.stdout.split("\n")[:-1] == ["open 1", "open 4"], done.stderr


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
        """)
    assert done.stdout == "closed\n", done.stderr


def test_a_process_whose_parent_has_ended_exits(run_python):
    done = run_python("""
        from grader.sandbox import kernel
        kernel.die_with_parent(999_999_999)
        print("survived")
        """)
    assert (done.returncode, done.stdout) == (1, "")


def test_a_loaded_filter_refuses_a_fork(run_python):
    done = run_python("""
        import os
        from grader.sandbox import kernel, seccomp
        kernel.forbid_new_privileges()
        kernel.load_filter(seccomp.program(os.getpid()))
        try:
            os.fork()
        except PermissionError:
            print("refused")
        """)
    assert done.stdout == "refused\n", done.stderr


def test_dropped_capabilities_are_gone(run_python):
    if os.geteuid() != 0:
        pytest.skip("an ordinary user has none to drop")
    done = run_python("""
        from grader.sandbox import kernel
        kernel.drop_bounding_capabilities()
        kernel.drop_capabilities()
        print([line.split()[1] for line in open("/proc/self/status") if line[:6] in ("CapPrm", "CapEff", "CapBnd")])
        """)
    assert done.stdout == str(["0" * 16] * 3) + "\n", done.stderr
