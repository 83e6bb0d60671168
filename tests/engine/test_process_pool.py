"""The pool of the grader's processes: lost processes, deadlines, errors, and what a process imports."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from helpers.command_line import HANGS_AFTER

from grader.engine.process_pool import Lost, ProcessPool
from grader.sandbox.base import SandboxError


@contextmanager
def working() -> Iterator[Callable]:
    """Yield a function that handles a task: (what to do, a number)."""

    def work(task: tuple[str, float]):
        what, number = task
        match what:
            case "square":
                return number**2
            case "exit":
                os._exit(1)
            case "raise":
                raise ValueError(f"no {number}")
            case "hang":
                time.sleep(600)
            case "print":
                print("no result", flush=True)
        return number

    yield work


@contextmanager
def refusing() -> Iterator[Callable]:
    raise SandboxError("there is none")
    yield  # makes the function a generator


@contextmanager
def dying() -> Iterator[Callable]:
    os._exit(1)
    yield


def test_every_task_gets_its_result():
    tasks = [("square", n) for n in range(20)]
    with ProcessPool(2, working) as pool:
        assert dict(pool.results(tasks)) == {task: task[1] ** 2 for task in tasks}


def test_no_more_processes_start_than_tasks():
    with ProcessPool(8, working) as pool:
        list(pool.run([("square", 1)]))
        assert len(pool._idle) == 1


def test_only_a_task_that_ends_its_process_is_lost():
    with ProcessPool(1, working) as pool:
        found = dict(pool.run([("square", 2), ("exit", 0), ("print", 7)]))
    assert found == {("square", 2): 4, ("exit", 0): Lost("exited"), ("print", 7): 7}


@pytest.mark.slow
def test_a_task_that_takes_too_long_is_lost_and_its_process_killed():
    with ProcessPool(1, working, seconds=lambda task: 0.5 if task[0] == "hang" else 60.0) as pool:
        started = time.monotonic()
        found = dict(pool.run([("hang", 0), ("square", 1)]))
    assert found == {("hang", 0): Lost("timeout"), ("square", 1): 1}
    assert time.monotonic() - started < 60


def test_results_raise_when_a_process_is_lost():
    with (
        ProcessPool(2, working) as pool,
        pytest.raises(SandboxError, match="a process of the grader was killed"),
    ):
        list(pool.results([("exit", 0)]))


def test_processes_that_never_begin_a_task_are_not_started_for_ever():
    with (
        ProcessPool(1, dying) as pool,
        pytest.raises(SandboxError, match="a process of the grader was killed"),
    ):
        list(pool.run([("square", 1)]))


def test_an_error_in_a_task_reaches_the_caller_and_ends_the_others():
    with pytest.raises(ValueError, match="no 3") as raised, ProcessPool(2, working) as pool:
        list(pool.run([("hang", 0), ("raise", 3)]))
    assert "process_pool.py" in "".join(raised.value.__notes__)
    assert not [c for c in psutil.Process().children() if "process_pool" in " ".join(c.cmdline())]


def test_an_error_in_setup_reaches_the_caller():
    with pytest.raises(SandboxError, match="there is none"), ProcessPool(1, refusing) as pool:
        list(pool.run([1]))


def test_a_process_imports_nothing_from_the_current_folder(tmp_path, monkeypatch):
    marker = tmp_path / "was_imported"
    (tmp_path / "pickle.py").write_text(f"open({str(marker)!r}, 'w')", "utf-8")
    monkeypatch.chdir(tmp_path)
    with ProcessPool(1, working) as processes:
        assert [result for _task, result in processes.results([("square", 3)])] == [9]
    assert not marker.exists()


def test_a_process_ends_if_its_parent_is_killed(tmp_path):
    code = f"from {__name__} import hang; hang({str(tmp_path)!r})"
    path = os.pathsep.join(filter(None, sys.path))
    parent = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path})
    file = tmp_path / "pid"
    deadline = time.monotonic() + HANGS_AFTER
    while not (file.exists() and file.read_text("ascii")) and time.monotonic() < deadline:
        time.sleep(0.05)
    child = psutil.Process(int(file.read_text("ascii")))
    parent.kill()
    parent.wait()
    assert not psutil.wait_procs([child], HANGS_AFTER)[1]


def hang(folder: str) -> None:
    with ProcessPool(1, writing, folder) as pool:
        list(pool.run(["task"]))


@contextmanager
def writing(folder: str) -> Iterator[Callable]:
    def work(_task):
        Path(folder, "pid").write_text(str(os.getpid()), "ascii")
        time.sleep(600)

    yield work


PROGRAM = """
print("the program is imported", flush=True)
if __name__ == "__main__":
    import atexit
    from grader.classroom.bounded_reader import BoundedReader
    reader = BoundedReader()
    atexit.register(reader.close)
    print(reader.call(len, "four"), flush=True)
"""


def test_a_process_does_not_import_the_program_that_starts_it_and_ends_with_it(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=HANGS_AFTER)
    assert (done.stdout.splitlines(), done.stderr) == (["the program is imported", "4"], "")
