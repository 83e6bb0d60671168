"""A regrade: the basic tier is refused unless submissions are trusted, and a teacher's grade is kept."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from helpers.nbgrader_class.school import ASSIGNMENT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def steps(school) -> dict[str, dict]:
    output = school.run(
        sys.executable,
        Path(__file__).parents[1] / "helpers/nbgrader_class/regrade.py",
        ASSIGNMENT,
        "lea",
        "transpose_qkv",
    )
    lines = [json.loads(line) for line in output.splitlines() if line.startswith('{"step"')]
    return {line["step"]: line for line in lines}


def test_the_basic_tier_is_refused_and_costs_no_points(steps):
    refused = steps["refused"]
    assert (refused["auto"], refused["needs"]) == (None, True)
    assert "trusted_submissions" in refused["auto_comment"]
    assert "No points are deducted." in refused["auto_comment"]


def test_trusted_submissions_are_graded_in_the_basic_tier(steps):
    assert 0 < steps["trusted"]["auto"] < 1.5  # partial credit
    assert not steps["trusted"]["needs"]


def test_an_override_and_a_comment_stay_after_a_regrade(steps):
    overridden = steps["overridden"]
    assert (overridden["manual"], overridden["score"]) == (2.5, 2.5)
    assert overridden["auto"] == steps["trusted"]["auto"]
    assert overridden["comment"] == "seen"
