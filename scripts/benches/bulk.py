"""Measure `grader grade` on a class: on one core and on all cores."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from benches.measure import GRADER, cpu
from benches.nine import class_of, course


@dataclass(frozen=True)
class Bulk:
    """The cost of one run over a class."""

    size: int
    cores: int
    seconds: float
    cpu: float  # seconds of processor time
    peak: int  # bytes: the largest proportional set size (PSS) of all processes together

    @property
    def a_minute(self) -> float:
        return 60 * self.size / self.seconds


def graded(folder: Path, size: int) -> list[Bulk]:
    """Grade a class of `size` on one core and on all cores. Recording the hidden cases is not measured."""
    root, submissions = _prepared(folder, size)
    all_cores = len(os.sched_getaffinity(0))
    return [
        Bulk(size, cores, *_run(root, submissions, cores))
        for cores in dict.fromkeys((1, all_cores))  # once, if there is one core
    ]


def _prepared(folder: Path, size: int) -> tuple[Path, Path]:
    """Return a course whose hidden cases are recorded, and a class."""
    root = course(folder / "course")
    _run(root, class_of(1, folder / "first"), 1)
    return root, class_of(size, folder / "class")


def _run(root: Path, submissions: Path, cores: int) -> tuple[float, float, int]:
    """Return seconds, seconds of processor time and peak memory in bytes. All processes share `cores` cores."""
    environment = {
        **os.environ,
        "HEADWAY_COURSE": str(root / "assignments"),
        "HEADWAY_SEED_FILE": str(root / "seed"),
        "XDG_CACHE_HOME": str(root / "cache"),
    }
    use = sorted(os.sched_getaffinity(0))[:cores]
    store = root / f"{submissions.name}-{cores}.sqlite"
    command = [GRADER, "grade", submissions, "--jobs", cores, "--store", store, "--format", "csv"]
    started, before = time.perf_counter(), cpu()
    process = subprocess.Popen(
        list(map(str, command)),
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: os.sched_setaffinity(0, use),
    )
    peaks = [0]
    watcher = threading.Thread(target=_watch, args=(process, peaks), daemon=True)
    watcher.start()
    out, error = process.communicate()
    taken = time.perf_counter() - started
    if process.returncode:
        raise SystemExit(f"`grader grade` did not exit with 0: {error.strip()[-500:] or out[-500:]}")
    return taken, cpu() - before, peaks[0]


def _watch(process: subprocess.Popen[str], peaks: list[int]) -> None:
    """Write the largest memory of a process and its descendants to `peaks[0]`, until the process ends."""
    while process.poll() is None:
        total = 0
        with contextlib.suppress(psutil.Error):
            parent = psutil.Process(process.pid)
            for member in [parent, *parent.children(recursive=True)]:
                with contextlib.suppress(psutil.Error):
                    total += member.memory_full_info().pss
        peaks[0] = max(peaks[0], total)
        time.sleep(5.0)  # one measurement takes a tenth of a second
