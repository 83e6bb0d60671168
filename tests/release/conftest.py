"""Fixtures: the kit of the first four assignments, and the seed that it must not contain."""

import shutil
from pathlib import Path

import pytest
from helpers.command_line import ROOT

from grader.release.folder import fill
from grader.release.kit import KitPlan, plan


@pytest.fixture(scope="session")
def seed(tmp_path_factory) -> Path:
    """Return a file with a secret seed, which the kit must not contain."""
    path = tmp_path_factory.mktemp("secret") / "seed"
    path.write_text("6a1f" * 16 + "\n", "utf-8")
    return path


@pytest.fixture(scope="session")
def chosen() -> KitPlan:
    """Return the plan of the kit with assignments 01 to 04."""
    return plan(ROOT / "solutions", ROOT / "assignments", "04")


@pytest.fixture(scope="session")
def filled(tmp_path_factory, chosen) -> Path:
    """Make the kit of assignments 01 to 04 without its check. Another test checks the kit of the whole course."""
    folder = tmp_path_factory.mktemp("kit")
    fill(chosen.bundles, ROOT / "assignments", folder)
    return folder


@pytest.fixture
def copy(filled, tmp_path) -> Path:
    """Copy the kit, so that a test may change it."""
    return Path(shutil.copytree(filled, tmp_path / "kit"))
