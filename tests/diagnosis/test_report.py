"""The script diagnosis_report.py, which counts how many mistakes get a name."""

import importlib
import sys
from pathlib import Path
from unittest.mock import patch

from helpers.answers import BY_ID

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def test_the_report_has_the_name_that_an_answer_gets(engine):
    with patch.object(sys, "path", [str(SCRIPTS), *sys.path]):
        report = importlib.import_module("diagnosis_report")
    answer = BY_ID["transpose_qkv/wrong_straight_reshape"]
    graded = report._graded(engine, engine.exercises["transpose_qkv"], answer)
    assert graded.named
    assert graded.equals == (frozenset({"heads-cut-straight"}),)
