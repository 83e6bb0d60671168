"""Measure `grader grade` on a class: on one core and on all cores."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from benches.measure import GRADER, ROOT, Each, finished, interleaved
from benches.nine import class_of, course, variables


def graded(folder: Path, size: int, runs: int) -> Iterator[tuple[int, list[Each], int]]:
    """Grade a class of `size` `runs` times with one job per core, then once with one job and once with eight.

    Yield the number of jobs, the cost of each run, and the peak: that of the proportional set size (PSS) of all
    processes together, in bytes. Recording the hidden cases is not measured.
    """
    root = course(folder / "course")
    _run(root, class_of(1, folder / "first"), 1)
    submissions = class_of(size, folder / "class")
    cores = len(os.sched_getaffinity(0))
    for jobs, times in {cores: runs, 1: 1, 8: 1}.items():
        with peak_of_children() as peak:
            costs = [_run(root, submissions, jobs) for _run_number in range(times)]
        yield jobs, costs, max(peak)


def pairs(folder: Path, other: Path, size: int, count: int) -> tuple[list[float], list[float]]:
    """Grade one class in turn with another checkout and with this one, `count` times each, on two cores.

    other: the root of a checkout that has its own .venv. Return the CPU seconds per submission of both.
    """
    submissions = class_of(size, folder / "class")

    def of(root: Path, name: str) -> Callable[[], float]:
        own = course(folder / name, root)
        grader = root / ".venv" / "bin" / "grader"
        _run(own, class_of(1, folder / f"first-{name}"), 2, grader)
        return lambda: _run(own, submissions, 2, grader).cpu / size

    return interleaved(count, of(other, "other"), of(ROOT, "ours"))


def _run(root: Path, submissions: Path, jobs: int, grader: Path = GRADER) -> Each:
    """Grade a class with `jobs` processes, which share as many cores. Exit if a submission does not pass."""
    store = root / f"{submissions.name}-{jobs}.sqlite"
    store.unlink(missing_ok=True)
    command = [grader, "grade", submissions, "--jobs", jobs, "--store", store, "--format", "csv"]
    return finished(command, root, sorted(os.sched_getaffinity(0))[:jobs], **variables(root))


@contextlib.contextmanager
def peak_of_children() -> Iterator[list[int]]:
    """Measure the memory of all child processes every five seconds; yield the list that the sums are added to."""
    sums, ended = [0], threading.Event()

    def watch() -> None:
        while not ended.wait(5.0):  # one measurement takes a tenth of a second
            total = 0
            for child in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    total += child.memory_full_info().pss
            sums.append(total)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    yield sums
    ended.set()
    watcher.join()
