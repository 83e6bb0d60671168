"""Files that make a process hang, exit or raise fail with a sentence, and the other files get their points.

The memory of a grading process is limited. A plain file is what the grader grades after a failure: if
that fails too, the grader is at fault, and no points are lost.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any, cast

import psutil
import pytest
from helpers.command_line import ROOT
from helpers.grading_here import graded_here

from grader.bundle.files import load_all
from grader.classroom import grade as module
from grader.classroom.class_run import grade_found
from grader.classroom.discover import SubmittedFile
from grader.classroom.grade import BoundedGrading, RunConfig, Task, TaskResult, grade, seconds_for
from grader.classroom.store import StoreKey
from grader.engine.student_file import CourseTables
from grader.report.model import ExerciseResult
from grader.sandbox.choose import best_tier
from grader.support.errors import BadData

NAMES = ("transpose_qkv", "transpose_output")


@pytest.fixture(scope="module")
def bundles():
    return [b for b in load_all(ROOT / "assignments") if b.assignment == "04_heads"]


@pytest.fixture
def config(tmp_path: Path) -> RunConfig:
    return RunConfig(tmp_path, tmp_path / "store", StoreKey("cases", "grader", "strict"))


@contextmanager
def pretending(config: RunConfig, _shared: int | None = None) -> Iterator[Callable[[Task], TaskResult]]:
    """Replace `grading`: hang or exit if the content of a file says so, otherwise pass the exercise NAMES[0].

    If the folder of the cases contains a file `broken`, the plain file makes the process exit, too.
    """

    def work(task: Task) -> TaskResult:
        if task.is_plain and not (config.bundles / "broken").exists():
            return TaskResult()
        if b"hang" in task.read():
            time.sleep(600)
        with module.ends_if_stuck(0.2):
            if b"stuck" in task.read():
                time.sleep(600)
        exits_on_plain = task.is_plain and (config.bundles / "broken").exists()
        if b"exit" in task.read() or exits_on_plain:
            os._exit(1)
        return TaskResult((ExerciseResult(NAMES[0], "04_heads", "passed", 3.0, 3.0),))

    yield work


def graded(bundles, config: RunConfig, monkeypatch, *texts: bytes):
    monkeypatch.setattr(module, "grading", pretending)
    monkeypatch.setattr(module, "seconds_for", lambda _exercises: 2.0)
    files = [
        SubmittedFile(f"s{n}", f"s{n}.py", partial(bytes, text), 0.0, NAMES) for n, text in enumerate(texts)
    ]
    with BoundedGrading(bundles, config, jobs=2) as grading:
        return grade_found(files, bundles, config, grading.run)


@pytest.mark.slow
def test_only_the_files_that_stop_their_process_fail(bundles, config, monkeypatch):
    texts = (b"good", b"hang", b"exit", b"stuck", b"fine")
    honest, hangs, exits, stuck, other = graded(bundles, config, monkeypatch, *texts)
    for submission in (honest, other):
        assert [r.outcome for r in submission.report.exercises] == ["passed"]
    for hostile, why in (hangs, "time limits"), (exits, "exited 2 times"), (stuck, "exited 2 times"):
        found = [(r.name, r.outcome, r.score) for r in hostile.report.exercises]
        assert found == [(name, "failed", 0.0) for name in NAMES]
        assert "could not judge this file" in hostile.report.exercises[0].message
        assert why in hostile.report.remarks[0]
        assert not hostile.grader_failed


@pytest.mark.slow
def test_no_points_are_lost_if_a_plain_file_stops_the_process(bundles, config, monkeypatch):
    """Only chosen exercises get a result."""
    (config.bundles / "broken").touch()
    (submission,) = graded(bundles, replace(config, only=NAMES[1:]), monkeypatch, b"exit")
    assert submission.grader_failed
    assert [(r.name, r.outcome, r.score) for r in submission.report.exercises] == [
        (NAMES[1], "could_not_grade", None)
    ]


ROUNDS = 25  # with four killed processes each


@contextmanager
def dying(config: RunConfig, _shared: int | None = None) -> Iterator[Callable[[Task], TaskResult]]:
    """Replace `grading`: kill this process, once per file in the folder of the cases.

    The file "start" kills the first process that starts, a file with the name of a submission the process that grades
    it, or, if it holds "answer", while it answers.
    """

    def grade(task: Task) -> TaskResult:
        mark = config.bundles / task.file.name
        if task.read() == b"grade" and once(mark):
            os.kill(os.getpid(), signal.SIGKILL)
        if task.read() == b"answer" and once(mark):
            Timer(0.01, os.kill, (os.getpid(), signal.SIGKILL)).start()
            return TaskResult(content="long" * (16 << 20))  # the parent reads it for longer
        return TaskResult((ExerciseResult(NAMES[0], "04_heads", "passed", 3.0, 3.0),))

    if once(config.bundles / "start"):
        os.kill(os.getpid(), signal.SIGKILL)
    yield grade


def once(mark: Path) -> bool:
    """Remove a file. Return whether it was there."""
    try:
        mark.unlink()
    except FileNotFoundError:
        return False
    return True


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_a_hundred_killed_processes_cost_no_file_its_points(bundles, config, monkeypatch):
    """A process is killed while it starts, while it is idle, while it grades and while it answers."""
    monkeypatch.setattr(module, "grading", dying)
    with BoundedGrading(bundles, config, jobs=2) as grading:
        for number in range(ROUNDS):
            texts = (b"grade", b"fine", b"answer", b"good")
            files = [Path(f"{number}-{place}.py") for place in range(len(texts))]
            for name in ("start", files[0], files[2]):
                (config.bundles / name).touch()
            tasks = [
                Task(place, file, partial(bytes, text), NAMES)
                for place, (file, text) in enumerate(zip(files, texts, strict=True))
            ]
            found = dict(grading.run(tasks))
            assert len(found) == len(tasks)
            assert {r.outcome for result in found.values() for r in result.results} == {"passed"}
            assert not any(result.lost or result.grader_failed for result in found.values())
            assert not list(config.bundles.glob("[s0-9]*")), "every process was killed"
            os.kill(grading._idle[0].popen.pid, signal.SIGKILL)  # it is idle


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has worker servers")
def test_the_death_of_the_shared_server_costs_no_file_its_points(bundles):
    """Two processes have one server. When it dies, each starts its own and grades on."""
    source = (ROOT / "solutions" / "04_heads" / "heads.py").read_bytes()
    tasks = [Task(n, Path(f"{n}.py"), partial(bytes, source + b"# %d" % n), NAMES) for n in range(8)]
    config = RunConfig(ROOT / "assignments", None, StoreKey("cases", "grader", best_tier("auto")))
    outcomes = []
    with BoundedGrading(bundles, config, jobs=2) as grading:
        assert grading._server is not None
        guard = psutil.Process(grading._server._process.pid)
        for _task, result in grading.run(tasks):
            if not outcomes:
                jobs = [process.popen.pid for process in (*grading._busy, *grading._idle)]
                assert jobs
                assert not any(psutil.Process(job).children() for job in jobs)  # none has a server of its own
                (server,) = guard.children()
                server.kill()
            outcomes += [one.outcome for one in result.results]
    assert outcomes == ["passed"] * len(tasks) * len(NAMES)
    assert not guard.is_running()


class RaisingEngine:
    """An engine that raises `error` for every file but the plain file; with `plain_too`, also for that."""

    def __init__(self, bundles, error: Exception, plain_too: bool = False):
        self.bundles, self.error, self.plain_too = bundles, error, plain_too
        self.contracts = CourseTables.of(bundles).contracts

    def grade(self, submission, wanted):
        raise self.error

    def grades_a_plain_file(self, _names):
        return not self.plain_too

    def close(self) -> None: ...


@pytest.mark.parametrize("error", [RecursionError(), MemoryError(), ValueError("\ud800")])
@pytest.mark.parametrize("expected", [NAMES, ()])  # (): the engine finds the exercises in the file
def test_a_file_fails_if_the_engine_raises_on_that_file_alone(bundles, config, error, expected):
    """If the engine raises on a plain file too, the grader failed instead."""
    task = Task(0, Path("a.py"), partial(bytes, b"def transpose_qkv(): pass\n"), expected)
    found = graded_here(RaisingEngine(bundles, error), config, task)
    at_fault = graded_here(RaisingEngine(bundles, error, plain_too=True), config, task)
    assert [(r.outcome, r.score) for r in found.results] == [("failed", 0.0)] * (len(expected) or 1)
    assert "could not judge this file" in found.results[0].message
    assert type(error).__name__ in found.remarks[0]
    assert not found.new, "the result is not stored, so the next run grades the file again"
    found.remarks[0].encode()  # raises if the remark has a lone surrogate
    assert at_fault.grader_failed
    assert type(error).__name__ in at_fault.problem


@pytest.mark.parametrize("error", [OSError("gone"), BadData("broken"), MemoryError()])
def test_a_file_that_cannot_be_read_is_a_problem_of_the_grader(error):
    def read() -> bytes:
        raise error

    unused = cast(Any, None)  # the file is read before anything else
    result = grade(unused, None, unused, Task(0, Path("ada.zip"), read))
    assert (result.grader_failed, result.results) == (True, ())
    assert "ada.zip cannot be read" in result.problem


def test_time_for_an_exercise_exceeds_the_limits_of_its_cases(bundles):
    exercises = bundles[0].exercises
    assert seconds_for(exercises) > sum(len(e.cases) * e.limits["wall_seconds"] for e in exercises)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_memory_of_a_process_is_limited():
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    try:
        module.limit_memory(1 << 28)
        with pytest.raises(MemoryError):
            bytearray(1 << 29)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
