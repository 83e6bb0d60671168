"""A student's course folder for the tests of the command line."""

from pathlib import Path

import pytest
from helpers.command_line import make_course


@pytest.fixture
def course(tmp_path) -> Path:
    """Make a student's copy of the course, in a folder of its own: `run` makes a home folder beside it."""
    return make_course(tmp_path / "course")


@pytest.fixture(autouse=True)
def commands_share_a_launcher(shared_launcher: None) -> None:
    """Have every command that runs in this process use the launcher of all tests."""
