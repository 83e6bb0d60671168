"""A student's course folder for the tests of the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
UNTRACKED = shutil.ignore_patterns(".headway", "__pycache__")  # files of earlier runs


@pytest.fixture
def course(tmp_path) -> Path:
    """Make a student's copy of the course, in a folder of its own: `run` makes a home folder beside it."""
    return Path(shutil.copytree(ROOT / "assignments", tmp_path / "course", ignore=UNTRACKED))


@pytest.fixture(autouse=True)
def commands_share_a_launcher(shared_launcher: None) -> None:
    """Have every command that runs in this process use the launcher of all tests."""
