"""The script diagnosis_report.py, which counts how many mistakes get a name."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from unittest.mock import patch

import pytest

from grader.diagnosis import match

ROOT = Path(__file__).resolve().parents[2]
ANSWER = ROOT / "tests" / "answers" / "transpose_qkv" / "wrong_straight_reshape.py"


@pytest.fixture(scope="module")
def report():
    with patch.object(sys, "path", [str(ROOT / "scripts"), *sys.path]):
        yield importlib.import_module("diagnosis_report")


def test_the_report_has_the_name_that_an_answer_gets(report, engine):
    label = {"transpose_qkv/wrong_straight_reshape": ["heads-cut-straight"]}
    graded = report._graded(engine, engine.exercises["transpose_qkv"], ANSWER, label)
    assert graded.named
    assert graded.nearest < 1e-4
    assert graded.seconds > 0


def test_the_report_stops_if_the_grader_raises(report, engine, monkeypatch):
    monkeypatch.setattr(match, "explanations", lambda: None)
    with pytest.raises(RuntimeError, match="the grader failed: TypeError"):
        report._graded(engine, engine.exercises["transpose_qkv"], ANSWER, {})
