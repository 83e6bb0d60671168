"""The reason why an exercise did not pass: one line in the CSV and in the text report. Each submission has a page."""

from __future__ import annotations

import csv
import hashlib
import io
from pathlib import Path

import pytest
from helpers.browser.samples import entry, result

from grader.classroom.formats import FORMATS
from grader.classroom.pages import write_pages
from grader.report.model import CheckResult, Diagnosis
from grader.report.shared_sentences import reason

ENDLESS = CheckResult(
    "a", "values", "the values", "failed", message="stopped after 10 seconds", where="masking.py, line 69"
)
RAISED = CheckResult(
    "a", "values", "the values", "failed", message="raised NameError", where="masking.py, line 7"
)
CLASS = [
    entry("ada", result("sequence_mask", "blocked", 0.0, message="masking.py, line 3: expected ':'")),
    entry("bob", result("sequence_mask", "failed", 0.0, checks=(ENDLESS,))),
    entry("cyd", result("sequence_mask", "failed", 0.0, checks=(RAISED,), diagnosis=Diagnosis("unknown"))),
    entry(
        "dee",
        result(
            "sequence_mask",
            "failed",
            0.0,
            checks=(RAISED,),
            diagnosis=Diagnosis("exact", (("m",),), "it counts one more"),
        ),
    ),
    entry("eve", result("sequence_mask", "not_started", 0.0)),
]
REASONS = {
    "ada": "masking.py, line 3: expected ':'",
    "bob": "the values: stopped after 10 seconds (masking.py, line 69)",
    "cyd": "the values: raised NameError (masking.py, line 7)",
    "dee": "known mistake: it counts one more",
    "eve": "",
}


@pytest.mark.parametrize("student", REASONS)
def test_the_reason_is_one_line(student):
    submission = next(submission for submission in CLASS if submission.student == student)
    assert reason(submission.report.exercises[0]) == REASONS[student]


def test_csv_has_a_column_with_the_reason():
    rows = csv.DictReader(io.StringIO(FORMATS["csv"](CLASS)))
    assert {row["student"]: row["sequence_mask reason"] for row in rows} == REASONS


@pytest.mark.parametrize("student", ["ada", "bob", "cyd"])
def test_the_text_report_lists_the_reason_if_no_mistake_is_known(student):
    text = " ".join(FORMATS["text"](CLASS).split())
    assert f"{student} sequence_mask" in text
    assert REASONS[student] in text


def test_every_submission_has_a_page_of_its_own(tmp_path: Path):
    write_pages(
        tmp_path / "pages", [*CLASS, entry("ada", result("sequence_mask", "passed", 3.0)), entry("../x")]
    )
    names = sorted(path.name for path in (tmp_path / "pages").iterdir())
    assert names == [
        f"_x.{hashlib.sha256(b'../x').hexdigest()[:16]}.html",
        "ada-2.html",
        "ada.html",
        *(f"{name}.html" for name in ("bob", "cyd", "dee", "eve")),
    ]
    assert "masking.py, line 69" in (tmp_path / "pages" / "bob.html").read_text("utf-8")
