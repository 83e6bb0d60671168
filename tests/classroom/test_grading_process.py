"""A file that cannot be read does not end a grading process."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from grader.classroom.archives import BadArchive
from grader.classroom.grading_process import Task, grade

UNUSED = cast(Any, None)  # the file is read before anything else


@pytest.mark.parametrize("error", [OSError("gone"), BadArchive("broken"), MemoryError()])
def test_a_file_that_cannot_be_read_is_a_problem_of_the_grader(error):
    def read() -> bytes:
        raise error

    result = grade(UNUSED, None, UNUSED, Task(0, Path("ada.zip"), read))
    assert (result.grader_failed, result.results) == (True, ())
    assert "ada.zip cannot be read" in result.problem
