"""Stubs, endless code, statements that the sandbox refuses, and other options. What an engine says of a file: tests/files/grading.md, honest.md."""

import re

import pytest
from helpers.answers import BY_ID

from grader.engine.grading import HIDDEN, PUBLIC
from grader.sandbox.base import Limits

RIGHT_SOFTMAX = BY_ID["masked_softmax/right_minus_infinity"].source
BOTH = ["sequence_mask", "masked_softmax"]


def short_limits(exercise):
    return Limits(wall_seconds=1.5)


def outcomes(report):
    return {e.name: e.outcome for e in report.exercises}


def test_a_stub_is_not_started(grade, bundles):
    report = grade(next(b for b in bundles if b.assignment == "02_masking").stub, BOTH)
    assert set(outcomes(report).values()) == {"not_started"}
    assert (report.score, report.points, report.exit_status) == (0, 8, 1)


@pytest.mark.slow
def test_an_endless_top_level_statement_is_skipped_and_reported(grade, monkeypatch):
    monkeypatch.setattr("grader.engine.load_request.limits", short_limits)
    report = grade("import torch\nwhile True:\n    pass\n" + RIGHT_SOFTMAX, ["masked_softmax"])
    assert report.exercises[0].outcome == "passed"
    assert any("line 2: this statement timed out" in remark for remark in report.remarks)
    assert not report.faulty, "a long demonstration is no error"


@pytest.mark.slow
def test_an_endless_answer_is_stopped_and_the_next_is_graded(grade, monkeypatch):
    monkeypatch.setattr("grader.engine.load_request.limits", short_limits)
    endless = "def sequence_mask(X, valid_len, value=0):\n    while True:\n        X = X + 1\n"
    report = grade(endless + RIGHT_SOFTMAX, BOTH)
    assert outcomes(report) == {"sequence_mask": "failed", "masked_softmax": "passed"}
    first = report.exercises[0].checks[0]
    assert re.fullmatch(r"stopped after [\d.]+ seconds; is there a loop that never ends\?", first.message)
    assert first.where.startswith("answer.py, line ")
    assert report.exercises[0].score == 0


def test_an_engine_with_other_options_parses_no_stub_again(engine):
    other = engine.with_options(terms=HIDDEN)
    assert other.context.course.stubs is engine.context.course.stubs
    assert other.context.course.contracts is engine.context.course.contracts
    assert other.context.workers is engine.context.workers
    assert other.options.terms is other.context.options.terms is HIDDEN
    assert engine.options.terms is engine.context.options.terms is PUBLIC


NO_PROGRAMS, NO_NETWORK = "starts no other programs", "no network"
REFUSED = {
    "import subprocess\nsubprocess.run(['ls'])": NO_PROGRAMS,
    "import os\nos.system('ls')": NO_PROGRAMS,
    "import multiprocessing\nmultiprocessing.Process(target=print).start()": NO_PROGRAMS,
    "import socket\nsocket.create_connection(('127.0.0.1', 1))": NO_NETWORK,
    "import urllib.request\nurllib.request.urlopen('http://127.0.0.1')": NO_NETWORK,
    "from torch.utils.data import DataLoader, TensorDataset\nnext(iter(DataLoader(TensorDataset(torch.ones(4)), num_workers=2)))": "use num_workers=0",
}


@pytest.mark.parametrize(("source", "sentence"), REFUSED.items())
def test_a_refused_statement_is_skipped_and_reported(engine, grade, source, sentence):
    if engine.launcher.tier == "basic":
        pytest.skip("the basic tier does not refuse it")
    report = grade(f"import torch\n{source}\n{RIGHT_SOFTMAX}", ["masked_softmax"])
    assert report.exercises[0].checks, "the file was not loaded"
    assert any(sentence in remark for remark in report.remarks), report.remarks
