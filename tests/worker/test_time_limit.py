"""The top level of a file is stopped when it has used up its CPU time, or when it waits without end."""

import sys

import pytest

from grader.worker.load import Files, load
from grader.worker.time_limit import LoadLimit

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timers of CPU time")


def loaded(source, seconds=0.3):
    """Load a file. Return its limit, and the names that it defines; None if the file was stopped."""
    limit, names = LoadLimit(seconds), None
    with limit.running():
        names = load(
            Files(units=[{"name": "a.py", "source": source + "\nlast = 1"}], given={}), limit.begin
        ).names
    return limit, names


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("while True: pass", 1),
        ("import time\nwhile True: time.sleep(9)", 2),
        ("import queue\nqueue.Queue().get()", 2),
        ("try:\n    while True: pass\nexcept BaseException: pass\nafter = 1", 1),
        ("def f():\n    try:\n        while True: pass\n    finally: return 1\nafter = f()\nafter = 2", 5),
    ],
    ids=["computes", "sleeps", "waits", "catches the exception", "replaces the exception"],
)
def test_an_endless_statement_is_stopped_and_named(source, line):
    limit, names = loaded(source)
    assert (limit.is_over, limit.statement) == (True, ("a.py", line))
    assert names is None


def test_the_statements_of_a_file_share_the_cpu_time():
    step = "s = time.process_time()\nwhile time.process_time() < s + 0.2: pass\n"
    limit, _names = loaded("import time\n" + step * 3)
    assert (limit.is_over, limit.statement) == (True, ("a.py", 5))


def test_a_stopped_timer_ends_no_later_code():
    limit, names = loaded("x = 1")
    assert (limit.is_over, names["x"]) == (False, 1)
    total = sum(range(20_000_000))  # more CPU time than the limit
    assert total > 0
