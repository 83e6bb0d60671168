"""Exercises whose `needs` name an exercise that the course does not have."""

from __future__ import annotations

import re

import pytest

from grader.authoring.content import ContentError, read_all
from grader.authoring.hidden_cases import _with_needs
from grader.authoring.scaffold import scaffold
from grader.authoring.verify_all import verify


@pytest.fixture
def solutions(tmp_path):
    scaffold(tmp_path, "12_first", "first_mean")
    manifest = tmp_path / "12_first" / "exercise.toml"
    text = manifest.read_text("utf-8")
    assert "needs = []" in text
    manifest.write_text(text.replace("needs = []", 'needs = ["zeroth_mean"]'), "utf-8")
    return tmp_path


def test_verify_refuses_an_unknown_needed_exercise_by_name(solutions):
    says = re.escape("exercise.toml: first_mean needs unknown exercises: zeroth_mean")
    with pytest.raises(ContentError, match=says):
        next(verify(solutions))


def test_hidden_cases_are_found_without_an_unknown_needed_exercise(solutions):
    assert [a.name for a in _with_needs(read_all(solutions), ["first_mean"])] == ["12_first"]
