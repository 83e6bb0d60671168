"""A student's course folder for the tests of the command line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.engine.engine import Engine
from grader.sandbox.base import Launcher

ROOT = Path(__file__).resolve().parents[2]
UNTRACKED = shutil.ignore_patterns(".headway", "__pycache__")  # what running the grader there leaves


@pytest.fixture
def course(tmp_path) -> Path:
    """A student's copy of the course, with an empty home folder beside it."""
    return Path(shutil.copytree(ROOT / "assignments", tmp_path / "course", ignore=UNTRACKED))


@pytest.fixture(autouse=True)
def shared_launcher(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have commands that run in this process use the launcher of all tests, which has imported torch."""
    from grader.student import check

    def shared(tier: str) -> Launcher:
        return engine.launcher if tier in ("auto", engine.launcher.tier) else choose(tier)

    choose = check.choose_tier
    monkeypatch.setattr(check, "choose_tier", shared)
    monkeypatch.setattr(engine.launcher, "close", lambda: None)
