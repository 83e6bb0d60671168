"""A worker has the limits of its exercise, and a case that is not costly has a shorter timeout.

The top level of a file is limited in CPU time; a statement that takes too long is left out for the whole file, and a
definition is named.
"""

import itertools
import signal
import sys
import threading
import time
from contextlib import closing
from pathlib import Path

import psutil
import pytest
from helpers.beginners import SOFTMAX as RIGHT
from helpers.minimal import submission_of
from msgspec import structs

from grader.engine.attempt import attempt
from grader.engine.grading import Grading
from grader.engine.lease import Lease, Loaded, Note, Workers
from grader.engine.load_notes import defined_name, how_loading_ended
from grader.engine.load_request import LoadRequest, case_timeout, limits
from grader.engine.session import Session, WorkerGone
from grader.engine.student_file import student_file
from grader.intake.names import read_names
from grader.intake.read import Submission, Unit
from grader.report.finding import PUBLIC
from grader.sandbox.base import SHORT_SECONDS
from grader.sandbox.basic import ColdLauncher

needs_timers = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timers of CPU time")


PLAIN = submission_of("pass")


@pytest.fixture
def workers(engine):
    with closing(Workers(engine.launcher)) as made:
        yield made


def loaded(workers, request):
    return workers.lease(request).load()


def session(workers, request):
    loaded(workers, request)
    return workers.held.session


def test_a_worker_is_reused_only_for_an_exercise_with_its_limits(engine, workers):
    small = engine.exercises["masked_softmax"]
    first = session(workers, LoadRequest(PLAIN, small))
    longer = structs.replace(small, limits={**small.limits, "wall_seconds": 20.0})
    assert session(workers, LoadRequest(PLAIN, longer)) is first, "wall_seconds is sent with each request"
    assert first.limits == limits(longer)
    larger = structs.replace(longer, limits={**longer.limits, "cpu_seconds": 60.0})
    other = session(workers, LoadRequest(PLAIN, larger))
    assert other is not first, "a process keeps the other limits that it was started with"
    assert other.limits == limits(larger)
    assert session(workers, LoadRequest(PLAIN, larger)) is other


def test_only_a_costly_case_has_the_timeout_of_the_exercise(engine):
    exercise = engine.exercises["train"]
    longer = limits(exercise).wall_seconds
    assert longer > SHORT_SECONDS
    timeouts = {(case.costly, case_timeout(exercise, case)) for case in exercise.cases}
    assert timeouts == {(True, longer), (False, SHORT_SECONDS)}


def request(engine, source, cpu_seconds=30):
    """Return a request to load a file with one second of CPU time."""
    exercise = structs.replace(
        engine.exercises["masked_softmax"], limits={"wall_seconds": 1.0, "cpu_seconds": cpu_seconds}
    )
    return LoadRequest(submission_of(source, "a.py"), exercise)


@pytest.mark.slow
@needs_timers
def test_a_worker_that_gets_no_cpu_loads_its_file(engine):
    """The file stops its own process, a child of this one; the test lets it go on after more than the time limit."""

    def go_on():
        stopped = None
        while stopped is None:
            children = psutil.Process().children()
            stopped = next((one for one in children if one.status() == psutil.STATUS_STOPPED), None)
        time.sleep(3)
        stopped.resume()

    waiter = threading.Thread(target=go_on)
    waiter.start()
    asked = request(engine, f"import os\nos.kill(os.getpid(), {int(signal.SIGSTOP)})\nafter = 1")
    with closing(ColdLauncher()) as launcher, closing(Workers(launcher)) as cold:
        after = loaded(cold, asked)
    waiter.join()
    assert "after" in after.names
    assert after.notes == ()


def attempts(engine, source):
    """Attempt an exercise twice. Return the second result, and the statements that were left out after each attempt."""
    asked = request(engine, source, cpu_seconds=3)
    grading, file = Grading(engine.context), student_file(engine.context.course, asked.submission)
    left_out = []
    for _time in range(2):
        engine.close()
        result = attempt(grading, file, asked.exercise)
        left_out.append(list(grading.endless))
    return result, left_out


@pytest.mark.slow
@needs_timers
def test_an_endless_statement_is_left_out_of_every_later_load(engine):
    """`sum` of a range is one call of C, in which Python raises no exception."""
    result, left_out = attempts(engine, "x = 1\nsum(range(10**12))\nafter = 1")
    assert result.message == "masked_softmax is not defined in a.py"
    assert left_out == [[("a.py", 2)]] * 2


@pytest.mark.slow
@needs_timers
def test_a_file_with_many_endless_statements_is_loaded(engine):
    endless = ["while True: pass"] * 4 + ["def own(X, lens):\n    return X", "own(1, 1)", "x = own(1, 1)"]
    kept = ["def made():\n    return own", "masked_softmax = made()"]
    result, left_out = attempts(engine, "\n".join(endless + kept))
    assert (result.outcome, bool(result.checks)) == ("failed", True)
    assert left_out == [[("a.py", line) for line in (1, 2, 3)]] * 2


@pytest.mark.parametrize(("cell", "times_out"), [("cell 1", False), ("cell 2", True)])
def test_only_an_endless_definition_is_a_reason(engine, cell, times_out):
    units = Unit("cell 1", "while True: pass\n"), Unit("cell 2", "def masked_softmax(X, valid_lens): ...\n")
    submission = Submission(Path("a.ipynb"), units)
    request = LoadRequest(submission, engine.exercises["masked_softmax"])
    note = Note(cell, 1, endless=True)
    loaded = Loaded(frozenset(), frozenset(), (note,))
    why = defined_name(request, loaded, read_names(submission))
    assert (PUBLIC.sentence(why) == "cell 2, line 1: this definition timed out") == times_out


@pytest.mark.parametrize(
    ("why", "detail", "line", "sentence"),
    [
        ("time", "", ("a.py", 3), "its top-level code did not finish at a.py, line 3"),
        ("time", "", None, "its top-level code did not finish"),
        ("died", "signal 9", None, "the worker process ended twice while it ran your code (signal 9)"),
    ],
)
def test_a_worker_that_is_lost_while_it_loads_has_a_sentence(why, detail, line, sentence):
    gone = WorkerGone(why, detail)
    gone.line = line
    assert PUBLIC.sentence(how_loading_ended(gone)) == f"the file could not be loaded: {sentence}"


@pytest.fixture
def dies(engine, monkeypatch):
    """Return a function: let the worker end when it gets a message for the n-th time, for each n given."""

    def at(*times):
        count, ask = itertools.count(1), Session.ask

        def asked(session, message, *args, **kwargs):
            if message["op"] == "run_all" or next(count) not in times:
                return ask(session, message, *args, **kwargs)
            session.close()
            raise WorkerGone("died", "signal 9")

        monkeypatch.setattr(Session, "ask", asked)
        monkeypatch.setattr(Lease, "observe_all", lambda lease, cases: {})
        engine.close()  # the next worker is new

    return at


@pytest.mark.parametrize(
    ("times", "outcome"),
    [((1,), "passed"), ((3,), "passed"), ((1, 2), "blocked"), ((3, 5), "failed")],
    ids=["while it loads", "in a case", "twice while it loads", "in a case of both attempts"],
)
def test_a_worker_that_ends_once_costs_nothing(grade_one, dies, times, outcome):
    """The first message loads the file. After a loss, all is repeated once in a new worker."""
    dies(*times)
    assert grade_one(RIGHT, "masked_softmax").outcome == outcome
