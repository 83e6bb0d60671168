"""The tier `basic`, which works on every system: a new Python process with the limits that the system offers."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from helpers.minimal import submission_of
from helpers.waiting import runs, within

import grader
from grader.engine.engine import Engine
from grader.sandbox import basic
from grader.sandbox.base import Limits, SandboxError
from grader.sandbox.basic import ColdLauncher


@pytest.fixture
def run_lines(monkeypatch):
    """Return a function that runs lines in a process of this tier, and returns its output and how it ended."""

    def run(script, **limits):
        # doubled braces, because `_START` is formatted
        monkeypatch.setattr(basic, "_START", script.replace("{", "{{").replace("}", "}}"))
        process = ColdLauncher().start(Limits(**limits))
        text = b""
        while chunk := os.read(process.log, 1 << 16):
            text += chunk
        end = process.wait()
        process.close()
        return text.decode(), end

    return run


def ends(pid: int) -> bool:
    """Wait, and return whether a process ends in time. The processes of these tests sleep for 60 seconds."""
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        return within(40, lambda: not runs(process))
    return True


def test_a_worker_inherits_no_settings_files_or_descriptors(run_lines, monkeypatch):
    monkeypatch.setenv("HEADWAY_SEED_FILE", "/secret")
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    with open(os.devnull) as inheritable:
        os.set_inheritable(inheritable.fileno(), True)
        text, _ = run_lines(
            "import json, os, sys; "
            "print(json.dumps([dict(os.environ), os.getcwd(), os.listdir(), os.listdir('/proc/self/fd'), sys.argv]))"
        )
    environment, folder, listed, descriptors, arguments = json.loads(text)
    assert not {"HEADWAY_SEED_FILE", "PYTHONPATH"} & environment.keys()
    assert environment["OMP_NUM_THREADS"] == "1"
    assert environment["HOME"] != os.environ.get("HOME")
    assert listed == []
    assert not os.path.exists(folder), "it is removed after the worker"
    assert len(descriptors) == 6  # 0, 1, 2, request, reply, and the listing itself
    assert set(arguments[1:3]) < set(descriptors)


def test_wait_returns_the_exit_code_or_the_signal(run_lines):
    assert run_lines("import os; os._exit(5)")[1] == 5
    assert run_lines("import os; os.kill(os.getpid(), 9)")[1] == -9


def test_kill_after_the_exit_keeps_the_exit_code(monkeypatch):
    monkeypatch.setattr(basic, "_START", "import os; os._exit(5)")
    process = ColdLauncher().start(Limits())
    os.waitid(os.P_PID, process._process.pid, os.WEXITED | os.WNOWAIT)
    process.kill()
    assert process.wait() == 5
    process.close()


def test_children_in_the_session_of_a_worker_are_killed_too(monkeypatch):
    monkeypatch.setattr(basic, "_START", "import os, time; print(os.fork(), flush=True); time.sleep(60)")
    process = ColdLauncher().start(Limits())
    printed = os.read(process.log, 100).split()  # `os.fork` returns 0 in the child
    pids = [process._process.pid, *(int(pid) for pid in printed if pid != b"0")]
    process.close()
    assert all(map(ends, pids))


def test_a_worker_ends_when_its_parent_is_killed():
    code = (
        f"import sys; sys.path.insert(0, {str(Path(grader.__file__).parents[1])!r})\n"
        "from grader.sandbox.basic import ColdLauncher\nfrom grader.sandbox.base import Limits\nimport time\n"
        "print(ColdLauncher().start(Limits())._process.pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    pid = int(parent.stdout.readline())
    time.sleep(0.3)  # so that the worker has usually started
    parent.kill()
    parent.wait()
    parent.stdout.close()
    assert ends(pid)


def test_a_missing_python_raises_a_sandbox_error(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(SandboxError, match="start a worker"):
        ColdLauncher().start(Limits())


TAKES_5_GIB = "import mmap; held = mmap.mmap(-1, 5 << 30, prot=mmap.PROT_READ); "


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited and reported on Linux")
def test_memory_of_libraries_does_not_count_as_memory_used(monkeypatch, bundles):
    """A torch that was built for CUDA maps three gigabytes, with a GPU or without."""
    monkeypatch.setattr(basic, "_START", TAKES_5_GIB + basic._START)
    limits = Limits(
        memory_bytes=1 << 30, wall_seconds=300, cpu_seconds=300
    )  # a busy machine fills memory slowly
    monkeypatch.setattr("grader.engine.load_request.limits", lambda exercise: limits)
    engine = Engine(bundles, ColdLauncher())
    right = "def transpose_output(X, num_heads):\n    %s\n    return X.unflatten(0, (-1, num_heads)).transpose(1, 2).flatten(2)\n"
    try:
        for statement, outcome in (  # 0.88 and 1.06 GiB; the limit is 1 GiB
            ("x = bytearray(14 << 26)", "passed"),
            ("x = bytearray(17 << 26)", "failed"),
        ):
            (result,) = engine.grade(submission_of(right % statement), ["transpose_output"]).exercises
            assert result.outcome == outcome, result
    finally:
        engine.close()
