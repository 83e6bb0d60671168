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
def working(allow: Callable[[float], None], folder: Path | None = None) -> Iterator[Callable]:
    """Yield a function that handles a task: (what to do, a number).

    allow: limits the time until the result or the next `allow`. folder: gets a file with one line per attempt.
    """

    def work(task: tuple[str, float]):
        what, number = task
        if folder is not None:
            with (folder / "tries").open("a", encoding="utf-8") as file:
                file.write(f"{what}\n")
        match what:
            case "square":
                return number**2
            case "exit":
                os._exit(1)
            case "exit once" if (folder / "tries").read_text("utf-8").count("exit once") == 1:
                os._exit(1)
            case "raise":
                raise ValueError(f"no {number}")
            case "hang":
                allow(0.5)
                time.sleep(600)
            case "hang forever":
                time.sleep(600)
            case "promise":  # set the time limit several times, the last time to none
                for _step in range(3):
                    allow(5.0)
                    time.sleep(0.01)
                allow(float("inf"))
        return number

    yield work


@contextmanager
def refusing(_allow: Callable[[float], None]) -> Iterator[Callable]:
    raise SandboxError("there is none")
    yield  # makes the function a generator


def test_every_task_gets_its_result():
    tasks = [("square", n) for n in range(20)]
    with ProcessPool(2, working) as pool:
        assert dict(pool.results(tasks)) == {task: task[1] ** 2 for task in tasks}


def test_no_more_processes_start_than_tasks():
    with ProcessPool(8, working) as pool:
        list(pool.run([("square", 1)]))
        assert len(pool._children) == 1


def test_only_a_task_that_always_ends_its_process_is_lost(tmp_path):
    with ProcessPool(1, working, tmp_path, attempts=2) as pool:
        found = dict(pool.run([("square", 2), ("exit", 0), ("exit once", 7)]))
    assert found == {("square", 2): 4, ("exit", 0): Lost("exited"), ("exit once", 7): 7}
    assert (tmp_path / "tries").read_text("utf-8").splitlines().count("exit") == 2


@pytest.mark.slow
def test_a_task_that_takes_too_long_is_lost_and_its_process_killed():
    with ProcessPool(1, working, attempts=2) as pool:
        started = time.monotonic()
        found = dict(pool.run([("hang", 0), ("promise", 1)]))
    assert found == {("hang", 0): Lost("timeout"), ("promise", 1): 1}
    assert time.monotonic() - started < 60


def test_results_raise_when_a_process_is_lost():
    with (
        ProcessPool(2, working) as pool,
        pytest.raises(SandboxError, match="a process of the grader was killed"),
    ):
        list(pool.results([("exit", 0)]))


def test_an_error_in_a_task_reaches_the_caller_and_ends_the_others():
    with pytest.raises(ValueError, match="no 3") as raised, ProcessPool(2, working) as pool:
        list(pool.run([("hang forever", 0), ("raise", 3)]))
    assert "process_pool.py" in "".join(raised.value.__notes__)
    assert not [c for c in psutil.Process().children() if "spawn_main" in " ".join(c.cmdline())]


def test_an_error_in_setup_reaches_the_caller():
    with pytest.raises(SandboxError, match="there is none"), ProcessPool(1, refusing) as pool:
        list(pool.run([1]))


def test_a_process_imports_nothing_from_the_current_folder(tmp_path, monkeypatch):
    marker = tmp_path / "was_imported"
    (tmp_path / "multiprocessing.py").write_text(f"open({str(marker)!r}, 'w')", "utf-8")
    monkeypatch.chdir(tmp_path)
    with ProcessPool(1, working) as processes:
        assert [result for _task, result in processes.results([("square", 3)])] == [9]
    assert not marker.exists()


PROGRAM = """
print("the program is imported", flush=True)
if __name__ == "__main__":
    from grader.classroom.bounded_reader import BoundedReader
    with BoundedReader() as reader:
        print(reader.call(len, "four"), flush=True)
"""


def test_a_process_does_not_import_the_program_that_starts_it(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, "utf-8")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=HANGS_AFTER)
    assert done.stdout.splitlines() == ["the program is imported", "4"], done.stderr
