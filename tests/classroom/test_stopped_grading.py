"""After `kill -9`, the next `grader grade` continues; after Ctrl-C, no process is left."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from helpers.command_line import HANGS_AFTER
from helpers.files import fill
from helpers.school import ANSWER, GRADER, environment, make_school, rows, run, store_of

pytestmark = pytest.mark.slow

SLOW = "import time\n" + ANSWER.replace("    B, T", "    time.sleep(0.02)\n    B, T")


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    return make_school(tmp_path_factory.mktemp("school"))


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
def test_a_killed_run_loses_nothing_and_grades_nothing_twice(school):
    folder = fill(school / "slow", {f"s{i}.py": f"{SLOW}# {i}\n" for i in range(4)})
    store = store_of(school, folder)
    command = [str(GRADER), "grade", "slow", "--jobs", "1", "--format", "jsonl"]
    first = subprocess.Popen(
        command, cwd=school, env=environment(school), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + HANGS_AFTER
    while time.monotonic() < deadline and not _rows_so_far(store):
        time.sleep(0.02)
    offspring = psutil.Process(first.pid).children(recursive=True)
    first.send_signal(signal.SIGKILL)
    first.wait()
    before = _rows_so_far(store)
    assert 1 <= len(before) < 4
    _gone, alive = psutil.wait_procs(offspring, timeout=60)
    assert not alive
    again = run(school, "grade", "slow", "--jobs", 1, "--format", "jsonl")
    assert again.returncode == 0
    assert len(again.stdout.splitlines()) == 4
    finished = rows(store)
    assert set(before) <= set(finished)
    assert max(row[2] for row in finished) == 4, "no row was written twice"


def _rows_so_far(store: Path) -> list[tuple]:
    if not store.exists():
        return []
    try:
        return rows(store)
    except sqlite3.OperationalError:  # the table does not exist yet
        return []


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them")
def test_ctrl_c_stops_at_once_and_leaves_no_process(school):
    folder = fill(school / "stopped", {f"student{n}.py": f"{SLOW}# {n}\n" for n in range(100)})
    command = [str(GRADER), "grade", folder, "--jobs", "1"]
    running = subprocess.Popen(
        command,
        cwd=school,
        env=environment(school),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while running.poll() is None and not _rows_so_far(store_of(school, folder)):
        time.sleep(0.02)
    assert running.returncode is None, "the grader ended before it was interrupted"
    offspring = psutil.Process(running.pid).children(recursive=True)
    running.send_signal(signal.SIGINT)
    _out, errors = running.communicate(timeout=HANGS_AFTER)
    assert running.returncode == 130
    assert errors.splitlines()[-1] == "stopped"
    assert "Traceback" not in errors
    assert len(_rows_so_far(store_of(school, folder))) < 50, "grading went on"
    assert not psutil.wait_procs(offspring, timeout=60)[1]
