"""Grade on the workers of a Dask cluster: `ClusterGrading` replaces `BoundedGrading`, which grades on this machine.

This machine reads the files and looks up stored results. It sends the other files to the workers, a few at a time,
and checks the results. What a worker does not answer, or answers with something else than a result, is graded here.
"""

from __future__ import annotations

import logging
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec
from distributed import Future, wait
from distributed.worker import Worker

from grader.bundle.files import load_all
from grader.bundle.model import Bundle
from grader.classroom.bounded_reader import BoundedReader
from grader.classroom.class_run import versions
from grader.classroom.cluster_connection import connect
from grader.classroom.grade import BoundedGrading, RunConfig, Task, TaskResult, look_up
from grader.classroom.store import Store
from grader.engine.process_pool import Lost
from grader.engine.student_file import CourseTables
from grader.intake.names import Definition
from grader.intake.read import WEIGHTS
from grader.report.model import from_text, to_text
from grader.sandbox.base import SandboxError
from grader.sandbox.choose import best_tier
from grader.support.code import code_digest
from grader.support.errors import GraderError
from grader.support.i18n import _

AHEAD = 2  # submissions that a worker has at a time, so that it does not wait for the next
TICK = 1.0  # seconds between looks at the list of workers


@dataclass(frozen=True)
class Course:
    """What a worker needs to grade a class: neither the store nor the secret seed."""

    run: str  # the id of this run
    code: str  # a hash of the grader's own files
    config: RunConfig = field(repr=False)  # Dask may log the repr
    files: dict[str, bytes] = field(repr=False)  # the recorded cases, by their path


class Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a worker sends about a task, as JSON. results: as `to_text` writes them."""

    results: tuple[str, ...]
    graded: bool  # now, not found in the store
    problem: str
    remarks: tuple[str, ...]
    grader_failed: bool


# The runs for which this worker grades: the process that grades, and the folder of the cases.
_serving: dict[str, tuple[BoundedGrading, tempfile.TemporaryDirectory[str]]] = {}


def set_up(course: Course, dask_worker: Worker) -> None:
    """Prepare this worker to grade a class. It forgets all other classes except the last, which may be in progress.

    Raises GraderError if the sandbox tier does not work here, or the grader differs.
    """
    for run in [course.run, *list(_serving)[:-1]]:
        tear_down(run)
    best_tier(course.config.key.sandbox)
    if versions() != course.config.key.grader or code_digest() != course.code:
        says = _("it has another grader or another torch ({versions}), or changed code of the grader")
        raise GraderError(says.format(versions=versions()))
    folder = tempfile.TemporaryDirectory(dir=dask_worker.local_directory, prefix="cases-")
    for name, data in course.files.items():
        Path(folder.name, name).parent.mkdir(exist_ok=True)
        Path(folder.name, name).write_bytes(data)
    config = replace(course.config, bundles=Path(folder.name))
    bundles = config.rules.apply(load_all(config.bundles))
    _serving[course.run] = BoundedGrading(bundles, config, jobs=1), folder


def tear_down(run: str) -> None:
    """End the process that grades for this run, and remove the cases."""
    if run in _serving:
        grading, folder = _serving.pop(run)
        grading.close()
        folder.cleanup()


def grade_sent(run: str, task: Task) -> bytes | None:
    """Return the `Reply` to a task, on a worker; None if it is not set up, or cannot grade."""
    with suppress(Exception):  # Dask would log an exception with its arguments
        ((_task, result),) = _serving[run][0].run([task])
        texts = tuple(map(to_text, result.results))
        remarks = result.remarks
        reply = Reply(texts, bool(result.new), result.problem, remarks, result.grader_failed)
        return msgspec.json.encode(reply)
    return None


def read_to_send(config: RunConfig, task: Task) -> TaskResult:
    """On the instructor's machine: return a file's stored results; `to_send` is a task with the exercises without one.

    That task holds the file, the modules that it imports, and its weights, as bytes.
    """
    assert config.store is not None
    bundles, contracts = _recorded(config.bundles)
    data = task.read()
    with closing(Store(config.store, config.key)) as store:
        found, submission = look_up(config.rules.apply(bundles), contracts, store, config, task, data)
    if submission is None or not found.missing:
        return found
    # With the mark of UTF-8, because the text may begin with one.
    modules = {one.name: partial(bytes, one.source.encode("utf-8-sig")) for one in submission.neighbours}
    weights = {task.file.stem + WEIGHTS: partial(bytes, submission.weights)} if submission.weights else {}
    sent = Task(task.number, task.file, partial(bytes, data), found.missing, {**modules, **weights})
    return replace(found, to_send=sent)


@cache
def _recorded(folder: Path) -> tuple[list[Bundle], Mapping[str, Definition]]:
    bundles = load_all(folder)
    return bundles, CourseTables.of(bundles).contracts


class ClusterGrading:
    """Grade on the workers of a Dask scheduler, or of "local:4". Use as a context manager."""

    def __init__(
        self, bundles: Sequence[Bundle], config: RunConfig, address: str, certificate: Path | None = None
    ):
        self._config, self._address, self._certificate = config, address, certificate
        self._exercises = {exercise.name: exercise for bundle in bundles for exercise in bundle.exercises}
        self._here = BoundedGrading(bundles, config, jobs=1)
        paths = config.bundles.glob("*/bundle.*")
        files = {path.relative_to(config.bundles).as_posix(): path.read_bytes() for path in paths}
        bare = replace(config, store=None, only=())  # a task that is sent names the exercises to grade
        self._course = Course(uuid.uuid4().hex, code_digest(), bare, files)
        self._ready, self._refused = set[str](), set[str]()  # addresses of workers; ready: set up
        self._queue: list[tuple[Task, TaskResult]] = []  # what is stored of a task, and what to send
        self._sent: dict[Future, tuple[str, Task, TaskResult]] = {}  # with the address of the worker
        self._alone = False  # no worker is connected

    def __enter__(self) -> ClusterGrading:
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # lost workers are expected
        with ExitStack() as opened:
            self._client = opened.enter_context(connect(self._address, self._certificate, opened))
            opened.callback(self._leave)
            self._reader = opened.enter_context(BoundedReader())
            opened.enter_context(self._here)
            self._opened = opened.pop_all()
        return self

    def __exit__(self, *error: Any) -> None:
        self._opened.__exit__(*error)

    def _leave(self) -> None:
        with suppress(Exception):  # the scheduler may be gone
            self._client.cancel(list(self._sent))
            self._client.run(tear_down, self._course.run, on_error="ignore")

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, TaskResult]]:
        """Yield each task with its result. Raises SandboxError if no worker may grade, or the scheduler is lost."""
        for task in tasks:
            try:
                found = self._reader.call(read_to_send, self._config, task)
            except GraderError:
                yield task, self._graded_again(task)
                continue
            if found.to_send is None:
                yield task, found
                continue
            self._queue.append((task, found))
            while self._send():
                yield from self._arrived()
        while self._send() or self._sent:
            yield from self._arrived()

    def _send(self) -> bool:
        self._update_workers()
        busy = Counter(address for address, _task, _found in self._sent.values())
        free = [address for n in range(AHEAD) for address in sorted(self._ready) if busy[address] <= n]
        for address in free[: len(self._queue)]:
            task, found = self._queue.pop()
            sent = self._course.run, found.to_send
            future = self._client.submit(grade_sent, *sent, workers=[address], pure=False)
            self._sent[future] = address, task, found
        return bool(self._queue)

    def _update_workers(self) -> None:
        try:
            here = set(self._client.scheduler_info(n_workers=-1)["workers"])
            if here and here <= self._refused:
                raise SandboxError(_("no worker of this cluster may grade the class; the reasons are above"))
            self._ready &= here
            if new := sorted(here - self._ready - self._refused):
                answers = self._client.run(set_up, self._course, workers=new, on_error="return")
                self._ready |= {address for address in new if answers[address] is None}
                for address in set(new) - self._ready:
                    self._refuse(address, str(answers[address]))
        except (OSError, KeyError):  # without a connection, Dask's answer is empty
            says = _(
                "the connection to the scheduler was lost; run the command again: what was graded is stored"
            )
            raise SandboxError(says) from None
        if not here and not self._alone:
            says = _("No worker is connected to the scheduler; grading continues when a worker connects.")
            print(says, file=sys.stderr, flush=True)
        self._alone = not here

    def _arrived(self) -> Iterator[tuple[Task, TaskResult]]:
        if not self._sent:
            time.sleep(TICK)
        with suppress(TimeoutError):
            wait(list(self._sent), timeout=TICK, return_when="FIRST_COMPLETED")
        for future, (address, task, found) in list(self._sent.items()):
            if address in self._ready and not future.done():
                continue
            del self._sent[future]
            answer: Any = None
            with suppress(Exception):  # the worker was lost
                answer = future.result(timeout=TICK) if future.done() else future.cancel()
            try:
                taken = None if answer is None or address in self._refused else self._checked(found, answer)
            except (ValueError, TypeError, RecursionError):
                self._refuse(address, _("it sent something else than a result"))
                taken = None
            if answer is None:
                self._ready.discard(address)  # if it is there, it has to be set up again
            yield task, taken or self._graded_again(task)

    def _refuse(self, address: str, why: str) -> None:
        self._ready.discard(address)
        self._refused.add(address)
        says = _("The worker {address} is not used: {why}.")
        print(says.format(address=address, why=why), file=sys.stderr, flush=True)

    def _graded_again(self, task: Task) -> TaskResult:
        try:
            return self._here.again(task, Lost("exited"))
        except SandboxError as error:  # the sandbox of the class does not work on this machine
            self._here.close()
            return TaskResult(problem=str(error), grader_failed=True)

    def _checked(self, found: TaskResult, answer: bytes) -> TaskResult:
        """Add a worker's results, if they are those that were asked for, to the stored ones, as of this submission.

        Raises ValueError, TypeError or RecursionError if the worker sent something else.
        """
        reply = msgspec.json.decode(answer, type=Reply)
        results = tuple(replace(from_text(text), content=found.content) for text in reply.results)
        asked = [(e.name, e.assignment, e.points) for e in map(self._exercises.__getitem__, found.missing)]
        if [(r.name, r.assignment, r.points) for r in results] != asked:
            raise ValueError("results of other exercises")
        return replace(
            found.completed(results),
            new=results if reply.graded else (),
            problem=reply.problem,
            remarks=tuple(dict.fromkeys((*found.remarks, *reply.remarks))),
            grader_failed=reply.grader_failed,
            to_send=None,
        )
