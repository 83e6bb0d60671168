"""kill -9 at any time: no process stays, no half-written file, and the next run is as if nothing had been."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[1]
GRADER = Path(sys.executable).with_name("grader")
SLOW = "import time\ndef transpose_qkv(X, num_heads):\n    time.sleep(0.3)\n    return X\n"


def start(cwd: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [str(GRADER), "check", "04"], cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def offspring(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


@pytest.fixture
def course(tmp_path) -> Path:
    folder = Path(shutil.copytree(ROOT / "assignments", tmp_path / "course"))
    (folder / "04_heads" / "heads.py").write_text(SLOW, "utf-8")
    return folder


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere a worker ends when its pipe closes, not at once"
)
@pytest.mark.parametrize("after", [0.1, 0.4, 0.9, 1.6, 2.4])
def test_killing_the_parent_leaves_nothing(course, after):
    parent = start(course)
    time.sleep(after)
    workers = offspring(parent.pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    gone, alive = psutil.wait_procs(workers, timeout=5)
    assert not alive
    assert len(gone) == len(workers)
    leftovers = [p for p in course.rglob(".*") if p.is_file() and p.parent.name != ".headway"]
    assert not leftovers
    for kept in course.glob(".headway/*"):
        json.loads(kept.read_text("utf-8"))


def test_killing_the_worker_once_is_made_good(course):
    (course / "04_heads" / "heads.py").write_text(SLOW.replace("return X", "return X.no_such_thing"), "utf-8")
    parent = subprocess.Popen(
        [str(GRADER), "check", "04", "--format", "json"], cwd=course, stdout=subprocess.PIPE
    )
    deadline = time.monotonic() + 20
    workers: list[psutil.Process] = []
    while not workers and time.monotonic() < deadline:
        workers = offspring(parent.pid)
        time.sleep(0.05)
    time.sleep(2.0)  # torch is imported, the first cases run
    for worker in workers:
        os.kill(worker.pid, signal.SIGKILL)
    out, _ = parent.communicate(timeout=60)
    result = json.loads(out)["exercises"][0]
    assert "no_such_thing" in result["checks"][0]["message"]
    assert not [p for p in workers if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
