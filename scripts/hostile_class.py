"""Grade a class of hostile submissions and two right ones; report time, memory and outcomes.

    python scripts/hostile_class.py                       in the best sandbox of this machine
    python scripts/hostile_class.py --sandbox landlock

The memory of workers is not counted: they run student code and have their own limits.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from helpers.hostile_class import hostile_class  # noqa: E402 (tests/ must be on the path first)
from helpers.school import GRADER, environment, make_school  # noqa: E402

# In the command lines of a supervisor, of the worker server that it starts, and of the workers that the server forks.
SERVER = "grader.sandbox.forkserver"
PAUSE = 0.02  # seconds between two measurements


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sandbox", default="auto")
    sandbox = parser.parse_args().sandbox
    with tempfile.TemporaryDirectory(prefix="hostile-") as made:
        root = make_school(Path(made), "04_heads", "06_positions")
        command = [GRADER, "grade", hostile_class(root / "class"), "--jobs", "1", "--format", "jsonl"]
        started = time.monotonic()
        with open(root / "report", "w+", encoding="utf-8") as report:
            process = subprocess.Popen(
                [*command, "--sandbox", sandbox], cwd=root, env=environment(root), stdout=report
            )
            peaks = memory(process)
            report.seek(0)
            records = [json.loads(line) for line in report]
    print(f"{len(records)} submissions, {time.monotonic() - started:.0f} s, exit status {process.returncode}")
    for what, peak in peaks.items():
        print(f"{peak >> 20:5d} MiB at most  {what}")
    for record in records:
        print(verdict(record))


def memory(process: subprocess.Popen[bytes]) -> dict[str, int]:
    """Return the largest resident memory of each kind of trusted process, until `process` ends."""
    peaks: defaultdict[str, int] = defaultdict(int)
    while process.poll() is None:
        try:
            main = psutil.Process(process.pid)
            for member in (main, *main.children(recursive=True)):
                kind = role(member, main)
                if kind:
                    peaks[kind] = max(peaks[kind], most(member.pid))
        except (psutil.Error, OSError):
            continue
        finally:
            time.sleep(PAUSE)
    return dict(peaks)


def role(process: psutil.Process, main: psutil.Process) -> str:
    """Name the kind of a process; "" for a worker, which is the child of a server."""
    if process == main:
        return "grader grade"
    above = [parent for parent in process.parents() if SERVER in " ".join(parent.cmdline())]
    if SERVER not in " ".join(process.cmdline()):
        return "processes that read and judge submissions"
    # A supervisor has no process with SERVER above it, a server has one, a worker two.
    return ("supervisors of servers", "servers of workers", "")[min(len(above), 2)]


def most(pid: int) -> int:
    """Return the largest resident memory that a process has had so far."""
    status = Path(f"/proc/{pid}/status").read_text("ascii", "replace")
    return next((int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM")), 0)


def verdict(record: dict) -> str:
    """Return one line about a submission: its outcomes, its points, and the first sentence of its report.

    A sentence about a blocked exercise comes last.
    """
    results = sorted(record["exercises"], key=lambda result: result["outcome"] == "blocked")
    sentences = [result["message"] for result in results]
    sentences += [check["message"] for result in results for check in result["checks"]] + record["remarks"]
    outcomes = ", ".join(dict.fromkeys(result["outcome"] for result in results)) or "not graded"
    return f"{record['submission']}: {outcomes}, {record['score']:g} points. {next(filter(None, sentences), '')[:150]}"


if __name__ == "__main__":
    main()
