"""Measure a warm grader: the time from a save to its verdict, the time from the request of a worker to its first
result, and a worker's memory.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path

from benches.measure import GRADER, ROOT
from grader.bundle.files import load_all
from grader.bundle.model import Exercise
from grader.engine.session import Session
from grader.sandbox.base import Launcher, Limits
from grader.sandbox.choose import choose, report_all

SOURCE = "import torch\ndef masked_softmax(X, valid_lens):\n    return torch.softmax(X, -1) + {n}\n"
SETTLED = 6.0  # seconds after which the worker server (it forks the workers) is warm
DONE = b"watching "  # starts the line that `grader watch` prints after a grading


def saves(folder: Path, count: int, tier: str, pause: float) -> list[float]:
    """Return the seconds from a save to the whole verdict on screen, in a warm `grader watch`.

    pause: seconds between a verdict and the next save. The search for a line, which follows a verdict, is off.
    """
    course = Path(shutil.copytree(ROOT / "assignments", folder / f"watched-{tier}"))
    with open(course / "headway.toml", "a", encoding="utf-8") as settings:
        settings.write("\nname_lines = false\n")
    file = course / "02_masking" / "masking.py"
    watch = subprocess.Popen(
        [str(GRADER), "watch", "masked_softmax", "--sandbox", tier],
        cwd=course,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    try:
        _verdict(watch)
        time.sleep(SETTLED)
        out = []
        for n in range(count + 1):
            started = time.perf_counter()
            file.write_text(SOURCE.format(n=n), "utf-8")
            _verdict(watch)
            out.append(time.perf_counter() - started)
            time.sleep(pause)
        return out[1:]  # the worker of the first save was forked before the server was warm
    finally:
        watch.terminate()
        watch.wait()


def _verdict(watch: subprocess.Popen[bytes]) -> None:
    """Wait until `grader watch` has printed a verdict."""
    assert watch.stdout is not None
    for line in watch.stdout:
        if line.startswith(DONE):
            return
    raise SystemExit("grader watch ended")


def first_results(count: int) -> dict[str, list[float]]:
    """Return tier → seconds from the request of a worker to its first result, with a warm server."""
    exercise = next(
        e for bundle in load_all(ROOT / "assignments") for e in bundle.exercises if e.name == "masked_softmax"
    )
    out = {}
    for tier in _tiers():
        launcher = choose(tier, warm="full")
        try:
            _first_result(launcher, exercise).close()
            time.sleep(SETTLED if tier != "basic" else 0)
            times = count if tier != "basic" else 3  # `basic` forks no workers: each starts slowly
            out[tier] = [_timed(launcher, exercise) for _n in range(times)]
        finally:
            launcher.close()
    return out


def _tiers() -> list[str]:
    return [report.tier for report in report_all() if report.available]


def _timed(launcher: Launcher, exercise: Exercise) -> float:
    time.sleep(0.05)  # until the next worker is ready, as between two saves
    started = time.perf_counter()
    session = _first_result(launcher, exercise)
    taken = time.perf_counter() - started
    session.close()
    return taken


def _first_result(launcher: Launcher, exercise: Exercise) -> Session:
    session = Session(launcher, Limits())
    unit = {"name": "a.py", "source": SOURCE.format(n=0)}
    session.ask({"op": "load", "units": [unit], "given": {}, "withheld": [], "replace": {}, "skip": []})
    case = exercise.cases[0]
    session.ask({"op": "run", "case": {"steps": case.steps, "dtype": case.dtype, "aliases": {}}}, case.body)
    return session


def memory(count: int = 5) -> dict[str, int] | None:
    """Return the median memory of a worker after its first result, in bytes.

    "private": its own memory. "pss": also its part of the shared memory. None if the system does not report them, or
    has no tier but `basic`, which forks no workers.
    """
    exercise = next(
        e for bundle in load_all(ROOT / "assignments") for e in bundle.exercises if e.name == "masked_softmax"
    )
    tier = _tiers()[0]
    if tier == "basic":
        return None
    launcher = choose(tier, warm="full")
    sessions = []
    try:
        _first_result(launcher, exercise).close()
        time.sleep(SETTLED)
        sessions = [_first_result(launcher, exercise) for _n in range(count)]
        rows = [_rollup(session._process._pidfd) for session in sessions]  # type: ignore[attr-defined]
    except OSError:
        return None
    finally:
        for session in sessions:
            session.close()
        launcher.close()
    return {name: int(statistics.median(row[name] for row in rows)) for name in ("private", "pss")}


def _rollup(pidfd: int) -> dict[str, int]:
    """Return the memory of the process with this descriptor, as `memory` does."""
    pid = next(
        line.split()[1]
        for line in Path(f"/proc/self/fdinfo/{pidfd}").read_text("utf-8").splitlines()
        if line.startswith("Pid:")
    )
    sizes: dict[str, int] = {}
    for line in Path(f"/proc/{os.fsdecode(pid)}/smaps_rollup").read_text("utf-8").splitlines()[1:]:
        name, size, *_unit = line.split()
        sizes[name.rstrip(":")] = int(size) << 10
    return {"private": sizes["Private_Clean"] + sizes["Private_Dirty"], "pss": sizes["Pss"]}
