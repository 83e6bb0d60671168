"""In the real `nbgrader autograde`, an answer that searches its worker for expected output gets no points."""

from __future__ import annotations

import json
import sys

import pytest
from helpers.hostile_sources import READS_THE_ANSWER
from helpers.nbgrader_class.school import BIN, cell, school_of
from nbgrader.api import Gradebook

pytestmark = pytest.mark.slow

NAME = "06_positions"


@pytest.mark.skipif(sys.platform != "linux", reason="grades in a sandbox")
def test_autograde_gives_no_points_for_a_search_in_the_worker(tmp_path):
    school = school_of(tmp_path, NAME)
    book = json.loads((school.course / "release" / NAME / f"{NAME}.ipynb").read_text("utf-8"))
    cell(book, "shift_matrix")["source"] = READS_THE_ANSWER
    submitted = school.course / "submitted" / "eve" / NAME / f"{NAME}.ipynb"
    submitted.parent.mkdir(parents=True)
    submitted.write_text(json.dumps(book), "utf-8")
    school.run(BIN / "nbgrader", "autograde", NAME)
    with Gradebook(f"sqlite:///{school.course / 'gradebook.db'}") as gradebook:
        (notebook,) = gradebook.find_submission(NAME, "eve").notebooks
        grade = next(g for g in notebook.grades if g.name == "check-shift_matrix")
        comment = next(c for c in notebook.comments if c.name == "shift_matrix").auto_comment
    assert (grade.auto_score, grade.needs_manual_grade) == (0.0, False)
    assert comment.startswith("failed: ")
