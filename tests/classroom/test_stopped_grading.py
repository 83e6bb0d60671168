"""After `kill -9`, the next `grader grade` continues; after Ctrl-C, no process is left."""

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from helpers.command_line import GRADER, HANGS_AFTER
from helpers.files import fill
from helpers.school import ANSWER, environment, make_school, rows, run, store_of

SLOW = "import time\n" + ANSWER.replace("    B, T", "    time.sleep(0.02)\n    B, T")


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    return make_school(tmp_path_factory.mktemp("school"))


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes as Linux shows them"),
]


@contextmanager
def grading(school: Path, students: int, *options: str):
    """Start to grade slow answers. Yield the process, its store and its offspring after the first result."""
    folder = fill(school / f"class{students}", {f"s{n}.py": f"{SLOW}# {n}\n" for n in range(students)})
    store, pipe = store_of(school, folder), subprocess.PIPE
    command = [GRADER, "grade", folder, "--jobs", "1", *options]
    with subprocess.Popen(command, cwd=school, env=environment(school), stderr=pipe, stdout=pipe) as running:
        while running.poll() is None and not _rows_so_far(store):
            time.sleep(0.02)
        assert running.returncode is None, "the grader ended before it was interrupted"
        yield running, store, psutil.Process(running.pid).children(recursive=True)


def _rows_so_far(store: Path) -> list[tuple]:
    if not store.exists():
        return []
    try:
        return rows(store)
    except sqlite3.OperationalError:  # the table does not exist yet
        return []


def test_a_killed_run_loses_nothing_and_grades_nothing_twice(school):
    with grading(school, 4, "--format", "jsonl") as (running, store, offspring):
        running.kill()
    before = _rows_so_far(store)
    assert 1 <= len(before) < 4
    assert not psutil.wait_procs(offspring, timeout=60)[1]
    again = run(school, "grade", "class4", "--jobs", 1, "--format", "jsonl", status=0)
    assert len(again.stdout.splitlines()) == 4
    finished = rows(store)
    assert set(before) <= set(finished)
    assert max(row[2] for row in finished) == 4, "no row was written twice"


def test_ctrl_c_stops_at_once_and_leaves_no_process(school):
    with grading(school, 100) as (running, store, offspring):
        running.send_signal(signal.SIGINT)
        _out, errors = running.communicate(timeout=HANGS_AFTER)
    assert running.returncode == 130
    assert errors.decode().splitlines()[-1] == "stopped"
    assert b"Traceback" not in errors
    assert len(_rows_so_far(store)) < 50, "grading went on"
    assert not psutil.wait_procs(offspring, timeout=60)[1]
