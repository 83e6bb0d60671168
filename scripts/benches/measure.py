"""Time commands, and describe the machine."""

from __future__ import annotations

import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GRADER = Path(sys.executable).with_name("grader")


def timed(command: Sequence[str], cwd: Path = ROOT, **environment: str) -> float:
    """Return the seconds of one run of a command. Its exit status does not matter."""
    started = time.perf_counter()
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(command, cwd=cwd, env={**os.environ, **environment}, check=False, **quiet)
    return time.perf_counter() - started


def finished(command: Sequence[object], cwd: Path, cores: Sequence[int] = (), **environment: str) -> Each:
    """Return the cost of a command that must succeed. cores: where it may run; (): on all."""
    words = [*map(str, command)]
    # nbgrader calls alembic by name.
    tools = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    started, before = time.perf_counter(), cpu()
    done = subprocess.run(
        words,
        cwd=cwd,
        env={**os.environ, "PATH": tools, **environment},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=(lambda: os.sched_setaffinity(0, cores)) if cores else None,
    )
    cost = Each(time.perf_counter() - started, cpu() - before)
    if done.returncode:
        raise SystemExit(f"{' '.join(words[1:5])}: {done.stderr[-800:] or done.stdout[-800:]}")
    return cost


def interleaved(
    pairs: int, floor: Callable[[], float], ours: Callable[[], float]
) -> tuple[list[float], list[float]]:
    """Call two functions in turn, `pairs` times. Return their results: `floor` is the baseline of `ours`.

    They are called in turn so that other work on the machine affects both.
    """
    floor(), ours()  # fill the file cache
    rows = [(floor(), ours()) for _ in range(pairs)]
    return [a for a, _ in rows], [b for _, b in rows]


def seconds(values: Sequence[float]) -> str:
    """Return the median, the smallest and the largest value as text."""
    return f"{statistics.median(values):.2f} s ({min(values):.2f} to {max(values):.2f})"


def milliseconds(values: Sequence[float]) -> str:
    """Return the median, the 95th percentile and the largest value as text."""
    ranked = sorted(values)
    p95 = ranked[round(0.95 * (len(ranked) - 1))]
    return f"{1000 * statistics.median(ranked):.0f} ms (p95 {1000 * p95:.0f}, worst {1000 * ranked[-1]:.0f})"


def machine() -> str:
    """Describe the machine in one line."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    cores = len(os.sched_getaffinity(0))
    return f"{_processor()}, {cores} cores, {memory} GiB, {platform.system()} {platform.release()}, Python {platform.python_version()}"


@dataclass(frozen=True)
class Each:
    """The cost of a run; divided by a number of submissions, the cost of each."""

    seconds: float
    cpu: float  # seconds of processor time

    def __sub__(self, other: Each) -> Each:
        return Each(self.seconds - other.seconds, self.cpu - other.cpu)

    def __add__(self, other: Each) -> Each:
        return Each(self.seconds + other.seconds, self.cpu + other.cpu)

    def __truediv__(self, count: int) -> Each:
        return Each(self.seconds / count, self.cpu / count)


def cpu() -> float:
    """Return the processor seconds of all ended children. Other work on the machine hardly changes them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _processor() -> str:
    known = Path("/proc/cpuinfo").read_text("utf-8") if Path("/proc/cpuinfo").exists() else ""
    return next(iter(re.findall(r"model name\s*: (.*)", known)), platform.machine())
