"""Classes that go through real nbgrader commands once per session; the tests read the results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from helpers.guide import Walk
from helpers.nbgrader_class.school import ASSIGNMENT, BIN, CLASS, School, school_of

if TYPE_CHECKING:
    from helpers.nbgrader_class.walks import Nbgrader


@pytest.fixture(scope="session")
def guide(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """Run the commands of docs/instructor.md, except those in `ELSEWHERE` (helpers/guide.py)."""
    walked = Walk(tmp_path_factory.mktemp("guide"))
    walked.prepare()
    walked.go()
    return walked


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> School:
    """Make a course and generate its assignment."""
    return school_of(tmp_path_factory.mktemp("nbgrader"), ASSIGNMENT)


@pytest.fixture(scope="session")
def school(made: School) -> School:
    """Submit and grade the answers of CLASS, and generate feedback."""
    book = made.released()
    for student, answer in CLASS.items():
        text = answer(book)
        made.hand_in(student, text if isinstance(text, str) else json.dumps(text))
    made.run(BIN / "nbgrader", "autograde", ASSIGNMENT)
    made.run(BIN / "nbgrader", "generate_feedback", ASSIGNMENT)
    return made


@pytest.fixture(scope="session")
def walk(made: School) -> Iterator[Nbgrader]:
    """Take a whole class through nbgrader's exchange."""
    from helpers.nbgrader_class.walks import by_the_exchange

    nbgrader = by_the_exchange(made)
    yield nbgrader
    nbgrader.close()
