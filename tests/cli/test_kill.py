"""After kill -9 at any time, no process and no partial file is left. The next run removes scratch folders.

A killed worker is replaced.
"""

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
from helpers.command_line import HANGS_AFTER

from grader.support.files import owned

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
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
    sys.platform != "linux", reason="elsewhere a worker ends only when it reads from its closed pipe"
)
@pytest.mark.parametrize("after", [0.1, 0.4, 0.9, 1.6, 2.4])
def test_killing_the_parent_leaves_no_process_and_no_partial_file(course, after):
    parent = start(course)
    time.sleep(after)
    workers = offspring(parent.pid)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    gone, alive = psutil.wait_procs(workers, timeout=60)
    assert not alive
    assert len(gone) == len(workers)
    # Atomic writes begin in a hidden file beside the target.
    leftovers = [p for p in course.rglob(".*") if p.is_file() and p.parent.name != ".headway"]
    assert not leftovers
    for saved in course.glob(".headway/*"):
        json.loads(saved.read_text("utf-8"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a helper goes on until it is done")
def test_killing_the_parent_stops_its_helpers(tmp_path):
    """The helper is a process that records hidden cases. The next run removes its folder."""
    command, helper = ["check", "04", "--hidden"], "grader.authoring.hidden_cases"
    for top in ("solutions", "assignments", "student_template"):
        (tmp_path / top).symlink_to(ROOT / top)
    homes = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    parent = subprocess.Popen(
        [str(GRADER), *command],
        cwd=tmp_path / "assignments",
        env={**os.environ, **homes},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + HANGS_AFTER
    helpers: list[psutil.Process] = []
    has_started = False
    while not has_started and parent.poll() is None and time.monotonic() < deadline:
        helpers = offspring(parent.pid)
        has_started = any(helper in " ".join(_command(process)) for process in helpers)
        time.sleep(0.02)
    parent.kill()
    assert (has_started, parent.wait()) == (True, -signal.SIGKILL)
    assert not psutil.wait_procs(helpers, timeout=60)[1]
    name, folder = ".recording", tmp_path / "cache" / "headway" / "hidden"
    assert list(folder.glob(f"{name}-*")), "the killed command left a folder"
    # The next run calls this. It also removes folders of processes that have ended.
    assert owned(folder, name) == f"{name}-{os.getpid()}-"
    assert not list(folder.glob(f"{name}-*"))


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


def test_a_worker_killed_once_is_replaced(course):
    (course / "04_heads" / "heads.py").write_text(SLOW.replace("return X", "return X.no_such_thing"), "utf-8")
    parent = subprocess.Popen(
        [str(GRADER), "check", "04", "--format", "json"], cwd=course, stdout=subprocess.PIPE
    )
    deadline = time.monotonic() + HANGS_AFTER
    workers: list[psutil.Process] = []
    while not workers and time.monotonic() < deadline:
        workers = offspring(parent.pid)
        time.sleep(0.05)
    time.sleep(2.0)  # torch is imported, the first cases run
    for worker in workers:
        os.kill(worker.pid, signal.SIGKILL)
    out, _ = parent.communicate(timeout=HANGS_AFTER)
    result = json.loads(out)["exercises"][0]
    assert "no_such_thing" in result["checks"][0]["message"]
    assert not [p for p in workers if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
