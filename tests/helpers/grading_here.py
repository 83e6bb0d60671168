"""Grade as `BoundedGrading` does, but in this process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any
from unittest.mock import patch

from grader.classroom.grade import BoundedGrading, RunConfig, Task, TaskResult, grade
from grader.classroom.store import Store
from grader.engine.process_pool import ProcessPool


def graded_here(engine: Any, config: RunConfig, task: Task) -> TaskResult:
    def here(_pool: object, tasks: Iterable[Task]) -> Iterator[tuple[Task, TaskResult]]:
        with closing(Store(config.store, config.key)) as store:
            for one in tasks:
                yield one, grade(engine, store, config, one)

    with patch.object(ProcessPool, "run", here):
        ((_task, result),) = BoundedGrading(engine.bundles, config, jobs=1).run([task])
    return result
