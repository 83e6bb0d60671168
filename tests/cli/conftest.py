"""A student's course folder for the tests of the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def course(tmp_path) -> Path:
    """A student's copy of the course, with an empty home folder beside it."""
    return Path(shutil.copytree(ROOT / "assignments", tmp_path / "course"))
