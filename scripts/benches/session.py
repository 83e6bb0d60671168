"""Measure a warm `grader watch`: the time from a save to its verdict."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

from benches.measure import GRADER, ROOT

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
