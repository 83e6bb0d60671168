"""Grade on the workers of a Dask cluster: `ClusterGrading` replaces `BoundedGrading`, which grades on this machine.

This machine reads the files and looks up stored results. It sends files to the workers, one batch per worker at a
time. If a worker exits, its batch goes to another worker. A worker gets batches only if its course, grader and
sandbox are right.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from distributed import Client, Future, wait

from grader.bundle.model import Bundle
from grader.classroom.bounded_grading import BoundedGrading
from grader.classroom.cluster_connection import connect
from grader.classroom.cluster_lookup import looking_up
from grader.classroom.cluster_worker import (
    NAME,
    Course,
    GradingPlugin,
    grade_batch,
    refusal,
    serves_another,
)
from grader.classroom.grading_process import RunConfig, Task, TaskResult, results_without_grading
from grader.support.errors import GraderError
from grader.support.i18n import _

BATCH = 20  # the largest number of submissions in a batch
# A batch that loses this many workers is split into single submissions. A single submission that loses this many
# counts as "could_not_grade".
LOSSES = 3
TICK = 1.0  # seconds between looks at the list of workers
REGISTRATIONS = 10  # attempts to send the course, before the scheduler counts as lost


class ClusterError(GraderError):
    """The cluster cannot be used any longer. What was graded is stored."""

    exit_status = 3


def _no_answer() -> ClusterError:
    return ClusterError(_("the scheduler does not answer; run the command again: what was graded is stored"))


@dataclass
class _Batch:
    to_grade: list[tuple[Task, TaskResult]]  # each task with what its lookup found
    losses: int = 0  # workers that exited while they had this batch


class ClusterGrading:
    """Grade on the workers of a Dask scheduler.

    The address "local:4" starts 4 workers on this machine. total: at least the number of tasks. Use as a context
    manager.
    """

    def __init__(
        self,
        bundles: Sequence[Bundle],
        config: RunConfig,
        address: str,
        certificates: Path | None,
        total: int,
    ):
        self._bundles, self._config, self._course = bundles, config, Course.of(config)
        self._address, self._certificates = address, certificates
        self._left = total  # upper bound of the number of tasks that are not looked up yet
        self._opened = ExitStack()
        self._accepted: dict[str, Future | None] = {}  # address → the batch in progress there, None if idle
        self._refused: dict[str, str] = {}  # address → why
        self._batches: dict[Future, _Batch] = {}
        self._to_send: list[_Batch] = []
        # For each task that is waiting for a worker or in progress: the equal tasks, which get its result.
        self._same: dict[_Key, list[tuple[Task, TaskResult]]] = {}
        self._graded: set[_Key] = set()  # the keys of the tasks that are done
        self._no_worker = False  # no worker is connected

    def __enter__(self) -> ClusterGrading:
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # lost workers are expected
        with ExitStack() as opened:
            self._client: Client = opened.enter_context(connect(self._address, self._certificates, opened))
            self._register()
            opened.callback(self._leave)
            self._lookup = opened.enter_context(
                BoundedGrading(self._bundles, self._config, jobs=1, setup=looking_up)
            )
            self._opened = opened.pop_all()
        return self

    def _register(self) -> None:
        """Send the course to all workers, also to those that join later. Raises ClusterError.

        If a worker exits during the call, the call raises OSError and is repeated.
        """
        for _attempt in range(REGISTRATIONS):
            try:
                self._client.register_plugin(GradingPlugin(self._course), NAME)
                return
            except OSError:
                time.sleep(TICK)
        raise _no_answer()

    def __exit__(self, *error: Any) -> None:
        self._opened.__exit__(*error)

    def _leave(self) -> None:
        with suppress(Exception):  # the scheduler may be gone
            self._client.cancel(list(self._batches))
            others = self._client.run(serves_another, self._course.id, on_error="return")
            if True not in others.values():  # another `grader grade` may have registered its course
                self._client.unregister_worker_plugin(NAME)

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, TaskResult]]:
        """Yield each task with its result when it is ready.

        Raises ClusterError if no worker may grade, or the scheduler is lost.
        """
        looked_up = self._look_up(tasks)
        more = True
        while more or self._to_send or self._batches:
            self._update_workers()
            idle = [address for address, batch in self._accepted.items() if batch is None]
            for address in idle:
                if more and not self._to_send:
                    more = yield from self._fill_batch(looked_up)
                if self._to_send:
                    self._submit(address, self._to_send.pop())
            yield from self._finished()

    def _fill_batch(
        self, looked_up: Iterator[tuple[Task, TaskResult]]
    ) -> Generator[tuple[Task, TaskResult], None, bool]:
        """Add a batch of the next tasks to `_to_send`; yield tasks whose results are stored.

        Return whether there may be more.
        """
        batch, more = _Batch([]), False
        for task, found in looked_up:
            self._left -= 1
            if found.to_send is None:
                yield task, found
            elif _key(found) in self._same:
                self._same[_key(found)].append((task, found))
            else:
                self._same[_key(found)] = []
                batch.to_grade.append((task, found))
            if len(batch.to_grade) >= self._size():
                more = True
                break
        if batch.to_grade:
            self._to_send.append(batch)
        return more

    def _look_up(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, TaskResult]]:
        """Yield each task with its stored results.

        Look a task up again at the end if an equal one was graded meanwhile.
        """
        early = []
        for task, found in self._lookup.run(tasks):
            if found.to_send is not None and _key(found) in self._graded:
                early.append(task)
            else:
                yield task, found
        yield from self._lookup.run(early)

    def _size(self) -> int:
        """Return the size of the next batch: smaller at the end, so that all workers finish at about the same time."""
        return max(1, min(BATCH, self._left // (2 * len(self._accepted))))

    def _submit(self, address: str, batch: _Batch) -> None:
        tasks = [found.to_send for _task, found in batch.to_grade]
        future = self._client.submit(
            grade_batch, self._course.id, tasks, workers=[address], allow_other_workers=False, pure=False
        )
        self._accepted[address], self._batches[future] = future, batch

    def _finished(self) -> Iterator[tuple[Task, TaskResult]]:
        """Wait a moment for batches; yield the results of those that are done, or that lost too many workers."""
        if not self._batches:
            if not self._accepted:  # no worker may grade yet
                time.sleep(TICK)
            return
        with suppress(TimeoutError):
            wait(list(self._batches), timeout=TICK, return_when="FIRST_COMPLETED")
        for address, future in list(self._accepted.items()):
            if future is None or not future.done():
                continue
            answer: Any = None
            with suppress(Exception):  # the worker exited: the answer stays None
                answer = future.result(timeout=TICK)
            batch = self._batches.pop(future)
            self._accepted[address] = None
            if isinstance(answer, str):
                self._refuse(address, answer)
                self._to_send.append(batch)
            elif answer is None:
                yield from self._lost(batch)
            else:
                for (task, found), graded in zip(batch.to_grade, answer, strict=True):
                    yield from self._done(task, found, graded)
        for future in set(self._batches) - set(self._accepted.values()):
            future.cancel()  # its worker has left
            yield from self._lost(self._batches.pop(future))

    def _lost(self, batch: _Batch) -> Iterator[tuple[Task, TaskResult]]:
        """Queue again or split a batch whose worker exited; yield the result of a submission that is given up."""
        batch.losses += 1
        if batch.losses < LOSSES:
            self._to_send.append(batch)
        elif len(batch.to_grade) > 1:
            self._to_send += [_Batch([one]) for one in batch.to_grade]
        else:
            ((task, found),) = batch.to_grade
            problem = _("{n} workers exited while they graded this submission").format(n=LOSSES)
            names = found.to_send.expected if found.to_send else ()
            blank = results_without_grading(self._bundles, names, "could_not_grade", problem)
            yield from self._done(task, found, TaskResult(tuple(blank), problem=problem, grader_failed=True))

    def _done(self, task: Task, found: TaskResult, graded: TaskResult) -> Iterator[tuple[Task, TaskResult]]:
        """Yield the result of a submission, and of those that are equal to it."""
        self._graded.add(_key(found))
        yield task, _joined(found, graded)
        for other, looked_up in self._same.pop(_key(found)):
            # Only the first of the equal ones has `new` results, so they are stored once.
            yield other, _joined(looked_up, replace(graded, new=()))

    def _update_workers(self) -> None:
        """Admit workers that joined, forget those that left. Raises ClusterError."""
        if self._client.status != "running":
            raise ClusterError(
                _(
                    "the connection to the scheduler was lost; run the command again: what was graded is stored"
                )
            )
        here = set(self._client.scheduler_info(n_workers=-1)["workers"])
        for address in set(self._accepted) - here:
            del self._accepted[address]
        before, self._no_worker = self._no_worker, not here
        if self._no_worker and not before:
            _say(_("No worker is connected to the scheduler; grading continues when a worker connects."))
        asked = [*(here - self._accepted.keys() - self._refused.keys())]
        try:
            answers = (
                self._client.run(refusal, self._course.id, workers=asked, on_error="return") if asked else {}
            )
        except OSError:
            raise _no_answer() from None
        for address, answer in answers.items():
            if answer == "":
                self._accepted[address] = None
            elif isinstance(answer, ImportError):
                self._refuse(address, _("the grader is not installed there, or is another version"))
            elif isinstance(answer, OSError):
                continue  # it may be temporary: the worker is asked again
            elif isinstance(answer, Exception):
                self._refuse(address, _("it does not answer ({error})").format(error=type(answer).__name__))
            elif isinstance(answer, str):
                self._refuse(address, answer)
            # None: the worker is not set up yet, and is asked again.
        if here and here <= set(self._refused):
            raise ClusterError(_("no worker of this cluster may grade the class; the reasons are above"))

    def _refuse(self, address: str, why: str) -> None:
        self._accepted.pop(address, None)
        self._refused[address] = why
        _say(_("The worker {address} is not used: {why}.").format(address=address, why=why))


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


_Key = tuple[str, tuple[str, ...]]


def _key(found: TaskResult) -> _Key:
    """Return the content and the exercises to grade: tasks with equal keys have equal results."""
    return found.content, found.to_send.expected if found.to_send else ()


def _joined(found: TaskResult, graded: TaskResult) -> TaskResult:
    """Combine the results of the store with those of a worker, in the order of the course.

    In `found`, an exercise that was sent is "could_not_grade"; the worker's result replaces it.
    """
    by_name = {result.name: result for result in graded.results}
    results = tuple(by_name.get(result.name, result) for result in found.results)
    return replace(
        graded,
        results=results,
        content=found.content,
        tree=found.tree,
        size=found.size,
        remarks=(*found.remarks, *graded.remarks),
        defines=found.defines,
    )
