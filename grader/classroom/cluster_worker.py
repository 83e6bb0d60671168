"""A worker of a cluster: it receives the hidden cases once, then grades batches of submissions.

It grades as a local run does, in a separate process with limits. It never receives the secret seed.
"""

from __future__ import annotations

import asyncio
import tempfile
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from distributed import WorkerPlugin, get_worker
from distributed.worker import Worker

from grader.bundle.files import load_all
from grader.classroom.bounded_grading import BoundedGrading
from grader.classroom.class_run import versions
from grader.classroom.grading_process import RunConfig, Task, TaskResult
from grader.sandbox.choose import best_tier
from grader.support.code import code_digest
from grader.support.errors import GraderError
from grader.support.i18n import _

NAME = "headway"  # of the plugin: a worker serves one class at a time


@dataclass(frozen=True)
class Course:
    """The data that a worker needs to grade a class: the cases, and the values that must be equal on both sides."""

    config: RunConfig = field(repr=False)  # without a store
    files: dict[str, bytes] = field(repr=False)  # the recorded cases, by their path
    code: str  # a hash of the grader's own files
    id: str  # of this run

    @classmethod
    def of(cls, config: RunConfig) -> Course:
        files = {
            path.relative_to(config.bundles).as_posix(): path.read_bytes()
            for path in sorted(config.bundles.glob("*/bundle.*"))
        }
        # `only` and `regrade` were applied when the files were looked up: a task names the exercises to grade.
        bare = replace(config, store=None, only=(), regrade=False)
        return cls(bare, files, code_digest(), uuid.uuid4().hex)


class GradingPlugin(WorkerPlugin):
    """Grades on one worker, from `setup` to `teardown`.

    `refusal`: why this worker does not grade; "" if it does, None until `setup` has ended.
    """

    def __init__(self, course: Course):
        self.course = course
        self.refusal: str | None = None
        self._grading: BoundedGrading | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    async def setup(self, worker: Worker) -> None:
        """Start; write an error into `refusal`. Raise nothing: Dask would end the worker and log a traceback."""
        try:
            await asyncio.to_thread(self.start, worker.local_directory)
            self.refusal = ""
        except GraderError as error:
            self.refusal = str(error)
        except Exception as error:
            self.refusal = _("it could not be set up ({error})").format(error=type(error).__name__)

    def start(self, place: str) -> None:
        """Unpack the cases below `place` and prepare to grade.

        Raises GraderError if the sandbox tier does not work here or the grader differs. The message continues
        a sentence about the worker.
        """
        config, key = self.course.config, self.course.config.key
        best_tier(key.sandbox)  # raises SandboxError if the tier does not work here
        self._folder = tempfile.TemporaryDirectory(dir=place, prefix="cases-")  # mode 700
        folder = Path(self._folder.name)
        for name, data in self.course.files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(data)
        if versions() != key.grader:
            raise GraderError(
                _("it has grader {theirs}; this class is graded with {ours}").format(
                    theirs=versions(), ours=key.grader
                )
            )
        if code_digest() != self.course.code:
            raise GraderError(_("its grader has other code; install the same checkout there"))
        config = replace(config, bundles=folder)
        self._grading = BoundedGrading(config.rules.apply(load_all(folder)), config, jobs=1)

    def grade(self, tasks: Sequence[Task]) -> list[TaskResult]:
        """Grade tasks in the separate process; return the results in their order."""
        assert self._grading is not None
        numbered = [replace(task, number=number) for number, task in enumerate(tasks)]
        results = {task.number: result for task, result in self._grading.run(numbered)}
        return [results[number] for number in range(len(tasks))]

    async def teardown(self, worker: Worker) -> None:
        if self._grading:
            await asyncio.to_thread(self._grading.close)
        if self._folder:
            self._folder.cleanup()


# Settings of Dask for the scheduler and the workers. Its other web pages are off: they would show names of files.
ROUTES = ["distributed.http.health"]  # Kubernetes asks for /health
DASK = {
    "distributed.worker.daemon": False,  # a worker starts processes
    "distributed.scheduler.http.routes": ROUTES,
    "distributed.worker.http.routes": ROUTES,
}


def dask_variables() -> dict[str, str]:
    """Return DASK as environment variables."""
    return {f"DASK_{key.upper().replace('.', '__')}": str(value) for key, value in DASK.items()}


def refusal(course: str, dask_worker: Worker) -> str | None:
    """On a worker: why it cannot grade the course with this id; "" if it can, None if it is not set up yet."""
    plugin = dask_worker.plugins.get(NAME)
    if not isinstance(plugin, GradingPlugin):
        return None
    return plugin.refusal if plugin.course.id == course else _("it serves another run of `grader grade`")


def serves_another(course: str, dask_worker: Worker) -> bool:
    """Whether this worker grades for another run. Dask calls it on the worker."""
    plugin = dask_worker.plugins.get(NAME)
    return isinstance(plugin, GradingPlugin) and plugin.course.id != course


def grade_batch(course: str, tasks: Sequence[Task]) -> list[TaskResult] | str | None:
    """On a worker: return the results of tasks, or why it does not grade; None if it is not set up yet.

    Raises nothing: Dask logs exceptions with their arguments.
    """
    try:
        plugin = get_worker().plugins.get(NAME)
        if not isinstance(plugin, GradingPlugin) or plugin.course.id != course:
            return _("another run of `grader grade` took it")
        if plugin.refusal is None:
            return None
        return plugin.grade(tasks)
    except GraderError as error:
        return str(error)
    except Exception as error:
        return _("it could not grade ({error})").format(error=type(error).__name__)
