"""Measure against the floor, in one run: pairs interleaved, medians with their spread.

    python scripts/bench.py [--pairs N]

The figures are ratios, since seconds say more about the machine than about the grader.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GRADER = Path(sys.executable).with_name("grader")


def timed(command: Sequence[str], cwd: Path = ROOT) -> float:
    """Seconds of one run of a command, whatever it answers."""
    started = time.perf_counter()
    subprocess.run(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return time.perf_counter() - started


def interleaved(pairs: int, floor: Callable[[], float], ours: Callable[[], float]) -> tuple[list[float], list[float]]:
    floor(), ours()  # fill the file cache
    rows = [(floor(), ours()) for _ in range(pairs)]
    return [a for a, _ in rows], [b for _, b in rows]


def spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.3f} s ({min(values):.3f} to {max(values):.3f})"


def import_torch() -> float:
    return timed([sys.executable, "-c", "import torch"])


def whole_course(folder: Path) -> Path:
    """All reference solutions in one file: every exercise has work to do."""
    path = folder / "everything.py"
    sources = [p.read_text("utf-8") for p in sorted(ROOT.glob("solutions/*/*.py")) if p.stem == p.parent.name.split("_", 1)[1]]
    path.write_text("\n\n".join(sources), "utf-8")
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    pairs = parser.parse_args().pairs
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores, {pairs} pairs each")
    with tempfile.TemporaryDirectory() as folder:
        everything = whole_course(Path(folder))
        one = ROOT / "solutions/05_multi_head_attention/multi_head_attention.py"
        for name, file in (("one assignment", one), ("the whole course", everything)):
            command = [str(GRADER), "check", "--file", str(file), "--course", "assignments", "--format", "json"]
            floor, ours = interleaved(pairs, import_torch, lambda command=command: timed(command))
            ratio = statistics.median(b / a for a, b in zip(floor, ours, strict=True))
            print(f"grader check of {name}: {spread(ours)}; import torch: {spread(floor)}; ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
