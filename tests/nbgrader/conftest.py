"""Courses that go through real nbgrader commands once per session; the tests read the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from helpers.guide import Walk as Guide
from helpers.nbgrader_class.school import School, school_of

if TYPE_CHECKING:
    from helpers.nbgrader_class.walk import Walk


@pytest.fixture(scope="session")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Guide:
    """Run the commands of docs/instructor.md, except those in `ELSEWHERE` (helpers/guide.py)."""
    walked = Guide(tmp_path_factory.mktemp("guide"))
    walked.prepare()
    walked.go()
    return walked


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> School:
    """Make a course and generate its assignment."""
    return school_of(tmp_path_factory.mktemp("nbgrader"))


@pytest.fixture(scope="session")
def walk(made: School) -> Walk:
    """Take a class of right, wrong, odd and hostile submissions through nbgrader."""
    from helpers.nbgrader_class.walk import walk_of  # imports nbgrader, which takes seconds

    return walk_of(made)


@pytest.fixture(scope="session")
def school(walk: Walk) -> School:
    return walk.school
