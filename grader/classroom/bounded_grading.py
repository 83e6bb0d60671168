"""Grade files in processes with time limits: a file that ends its process affects no other file.

On Linux, except in the basic tier, the processes also have a memory limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.bundle.model import Bundle
from grader.classroom.grading_process import (
    RunConfig,
    Task,
    TaskResult,
    grading,
    names_to_grade,
    plain_file,
    results_without_grading,
    unjudged_file,
)
from grader.engine.process_pool import Lost, ProcessPool
from grader.intake.neighbours import among
from grader.support.i18n import _

ATTEMPTS = 2  # tries per file whose process exits


class BoundedGrading:
    """Up to `jobs` processes that grade, started when they are needed. Use it as a context, or call `close`."""

    def __init__(self, bundles: Sequence[Bundle], config: RunConfig, jobs: int):
        self._bundles, self._only = bundles, config.only
        self._pool: ProcessPool[Task, TaskResult] = ProcessPool(jobs, grading, config, attempts=ATTEMPTS)

    def __enter__(self) -> BoundedGrading:
        return self

    def __exit__(self, *error: Any) -> None:
        self._pool.__exit__(*error)

    def close(self) -> None:
        """End the processes. Safe to call twice."""
        self._pool.close()

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, TaskResult]]:
        """Yield each task with its result, as soon as it is ready. Tasks whose process exited or timed out come last.

        Raises SandboxError if the tier is not available.
        """
        lost = []
        for task, result in self._pool.run(tasks):
            if isinstance(result, Lost):
                lost.append((task, result))
            else:
                yield task, self._excused(task, result)
        for task, how in lost:
            yield task, self._excused(task, self._without_result(task, how))

    def _without_result(self, task: Task, lost: Lost) -> TaskResult:
        """Blame a submission whose process exited or timed out if a plain file is graded; otherwise the grader."""
        why = _("the process that graded it exited {n} times").format(n=ATTEMPTS)
        if lost.why == "timeout":
            why = _("it took much longer than the time limits of its exercises")
        plain = replace(task, file=Path("plain.py"), read=plain_file, beside=among({}))
        ((_task, result),) = self._pool.run([plain])
        if isinstance(result, Lost) or result.grader_failed:
            problem = _("the grader failed: {error}").format(error=why)
            return TaskResult(problem=problem, grader_failed=True)
        return unjudged_file(self._bundles, self._expected(task), content="", size=0, why=why)

    def _excused(self, task: Task, result: TaskResult) -> TaskResult:
        if not result.grader_failed:
            return result
        names = self._expected(task)
        results = results_without_grading(self._bundles, names, "could_not_grade", result.problem)
        return replace(result, results=tuple(results))

    def _expected(self, task: Task) -> tuple[str, ...]:
        return names_to_grade(self._bundles, self._only, task.expected)
