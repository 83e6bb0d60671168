"""After kill -9, no helper goes on, and the next run removes its folder. A killed worker is replaced."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from helpers.command_line import GRADER, HANGS_AFTER, ROOT, make_course

from grader.support.files import owned

pytestmark = pytest.mark.slow

SLOW = "import time\ndef transpose_qkv(X, num_heads):\n    time.sleep(0.3)\n    return X.no_such_thing\n"


def start(cwd: Path, *options: str, **environment: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [GRADER, "check", "04", *options],
        cwd=cwd,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def offspring(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a helper goes on until it is done")
def test_killing_the_parent_stops_its_helpers(tmp_path):
    """The helper is a process that records hidden cases. The next run removes its folder."""
    for top in ("solutions", "assignments", "student_template"):
        (tmp_path / top).symlink_to(ROOT / top)
    homes = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "XDG_CONFIG_HOME": str(tmp_path / "config")}
    deadline = time.monotonic() + HANGS_AFTER
    helpers: list[psutil.Process] = []
    has_started = False
    with start(tmp_path / "assignments", "--hidden", **homes) as parent:
        while not has_started and parent.poll() is None and time.monotonic() < deadline:
            helpers = offspring(parent.pid)
            commands = (" ".join(_command(process)) for process in helpers)
            has_started = any("process_pool" in command for command in commands)
            time.sleep(0.02)
        parent.kill()
    assert (has_started, parent.returncode) == (True, -signal.SIGKILL)
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


def test_a_worker_killed_once_is_replaced(tmp_path):
    course = make_course(tmp_path / "course")
    (course / "04_heads" / "heads.py").write_text(SLOW, "utf-8")
    parent = start(course, "--format", "json")
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
