"""The cases of an exercise are sent in one message, which does not change the report."""

from dataclasses import replace

import pytest
from helpers.answers import BY_ID

from grader.engine import lease
from grader.engine.session import Session

SOFTMAX = BY_ID["masked_softmax/right_minus_infinity"].source
FILL = 'float("-inf")'


def softmax(first="pass", fill=FILL):
    """Return a right answer with another first statement and another fill value."""
    return SOFTMAX.replace("valid_lens):\n", f"valid_lens):\n    {first}\n").replace(FILL, fill)


@pytest.fixture
def asked(monkeypatch):
    """Return a list that gets the `op` of each message to a worker."""
    messages = []
    ask = Session.ask

    def noted(session, request, *args, **kwargs):
        messages.append(request["op"])
        return ask(session, request, *args, **kwargs)

    monkeypatch.setattr(Session, "ask", noted)
    return messages


def result(report):
    """Return the result of the only exercise, without its time."""
    (exercise,) = report.exercises
    return replace(exercise, seconds=0.0)


def one_by_one(monkeypatch):
    """Let the grader run each case with its own message."""
    monkeypatch.setattr(lease.Lease, "observe_all", lambda lease, cases: {})


def test_the_cases_of_an_exercise_are_sent_in_one_message(grade, asked):
    report = grade(softmax(), ["masked_softmax"])
    assert report.exercises[0].outcome == "passed"
    assert asked.count("run_all") == 1
    assert "run" not in asked


@pytest.mark.parametrize(
    "first",
    [
        "pass",
        "print('here')",
        "if valid_lens is None: raise ValueError('no lengths')",
        "if valid_lens is not None and valid_lens.dim() > 1: return",
        "if X.shape[0] > 2: import os; os._exit(3)",
        "if valid_lens is None: return torch.zeros(700, 700)",
    ],
)
def test_the_report_is_the_same_as_for_cases_one_by_one(grade, monkeypatch, first):
    source = softmax(first, "-1.0")
    together = result(grade(source, ["masked_softmax"]))
    one_by_one(monkeypatch)
    assert together == result(grade(source, ["masked_softmax"]))
    assert together.outcome == "failed"


@pytest.mark.slow
def test_cases_that_are_slow_together_are_run_one_by_one(grade, asked, monkeypatch):
    monkeypatch.setattr(lease, "TOGETHER_SECONDS", 0.3)
    report = grade(softmax("import time; time.sleep(0.2)"), ["masked_softmax"])
    assert report.exercises[0].outcome == "passed"
    cases = {check.id.split("/")[0] for check in report.exercises[0].checks}
    assert asked.count("run") == len(cases)


def test_after_large_results_the_other_cases_run_one_by_one(grade, asked):
    """One result has more than 1 MiB, so the worker runs no further case of the message."""
    report = grade(softmax("return torch.zeros(700, 700)"), ["masked_softmax"])
    assert report.exercises[0].outcome == "failed"
    assert asked.count("run") > 1
