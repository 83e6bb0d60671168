"""Measure a large class after grading: time and memory of the parent, size of the store and of the class page.

The results are synthetic: each of nine exercises has the checks of its recorded cases, and every third submission is
wrong in one exercise, with different values. Each result is unpickled, like the results of real processes.

    python scripts/class_size.py 200 10000
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
from benches.measure import ROOT
from benches.nine import EXERCISES

from grader.bundle.files import load_all
from grader.bundle.model import Exercise
from grader.classroom.class_run import ClassRun
from grader.classroom.discover import SubmittedFile
from grader.classroom.formats import FORMATS
from grader.classroom.grading_process import RunConfig, Task, TaskResult
from grader.classroom.store import StoreKey
from grader.report.model import CheckResult, Diagnosis, ExerciseResult

MIB = 1 << 20


def main() -> None:
    if len(sys.argv) == 2:
        print(measured(int(sys.argv[1])))
        return
    for size in sys.argv[1:]:  # a new process for each size, because Python keeps freed memory
        subprocess.run([sys.executable, __file__, size], check=True)


def measured(size: int) -> str:
    """Return one line: the time, the memory and the sizes for a class of `size`."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bundles = load_all(ROOT / "assignments")
        config = RunConfig(ROOT / "assignments", folder / "store", StoreKey("cases", "grader", "strict"))
        files = [
            # The content is n zero bytes; it is not graded.
            SubmittedFile(f"student{n:06}", f"student{n:06}.ipynb", partial(bytes, n), 0.0, digest=b"%d" % n)
            for n in range(size)
        ]
        pool = Made([e for b in bundles for e in b.exercises if e.name in EXERCISES])
        before, started = psutil.Process().memory_info().rss, time.monotonic()
        graded = ClassRun(files, bundles, config, pool).grade()
        stored, after = time.monotonic() - started, psutil.Process().memory_info().rss
        started = time.monotonic()
        page = FORMATS["html"](graded)
        shown, peak = time.monotonic() - started, psutil.Process().memory_info().rss
        return (
            f"{size} submissions: {stored:.1f} s to store; parent {before / MIB:.0f} MiB before, {after / MIB:.0f} MiB after, "
            f"{peak / MIB:.0f} MiB with the page; store {os.path.getsize(config.store) / MIB:.1f} MiB; "
            f"page {shown:.1f} s, {len(page.encode()) / MIB:.2f} MiB"
        )


class Made:
    """Replace the pool of grading processes: return synthetic results."""

    def __init__(self, exercises: Iterable[Exercise]):
        right = [passed(exercise) for exercise in exercises]
        self._right = [pickle.dumps(result) for result in right]
        self._wrong = [pickle.dumps(failed(result)) for result in right]

    def __enter__(self) -> Made:
        return self

    def __exit__(self, *_error: object) -> None: ...

    def run(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, TaskResult]]:
        for task in tasks:
            wrong = -1  # the index of the wrong exercise; -1: none is wrong
            if task.number % 3 == 0:  # each exercise in turn
                wrong = task.number // 3 % len(self._right)
            texts = [self._wrong[n] if n == wrong else right for n, right in enumerate(self._right)]
            results = [pickle.loads(text) for text in texts]
            content = f"{task.number:064}"
            own = tuple(
                replace(
                    result,
                    content=content,
                    seconds=0.01 + task.number / 1e6,
                    checks=tuple(
                        replace(check, message=f"{check.message} {task.number}") if check.message else check
                        for check in result.checks
                    ),
                )
                for result in results
            )
            yield task, TaskResult(own, own, content, size=5000)


def passed(exercise: Exercise) -> ExerciseResult:
    checks = [
        CheckResult(
            f"{case.id}/{check.id}",
            check.facet,
            check.title,
            "passed",
            "cpu",
            case.dtype,
            "hidden",
            policy=check.policy,
        )
        for case in exercise.cases
        for check in case.checks
    ]
    return ExerciseResult(
        exercise.name,
        "04_heads",
        "passed",
        exercise.points,
        exercise.points,
        exercise.title,
        checks=tuple(checks),
    )


def failed(result: ExerciseResult) -> ExerciseResult:
    first, *rest = result.checks
    wrong = replace(first, outcome="failed", message="the value at [0, 1, 2] is wrong", where="line 12")
    return replace(
        result,
        outcome="failed",
        score=result.score / 2,
        checks=(wrong, *rest),
        diagnosis=Diagnosis("exact", (("mask-inverted",),), "it masks what it should keep", "what is kept?"),
    )


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()
