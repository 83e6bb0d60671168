"""Where the course folder is: a kit, or a single assignment as nbgrader releases it."""

import shutil
from pathlib import Path

import pytest
from helpers.command_line import ROOT

from grader.intake.course import find
from grader.support.errors import UsageError

FILES = ("bundle.json", "bundle.safetensors")


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """Make a released folder with a name that the student chose."""
    folder = tmp_path / "week 2"
    folder.mkdir()
    for name in FILES:
        shutil.copy(ROOT / "assignments/02_masking" / name, folder)
    shutil.copy(ROOT / "assignments/02_masking/masking.ipynb", folder / "02_masking.ipynb")
    return folder


def test_a_released_assignment_is_a_course_of_its_own(released):
    (released / "deeper").mkdir()
    course = find(released / "deeper")
    assert course.root == released
    (bundle,) = course.bundles
    assert course.file_for(bundle) == released / "02_masking.ipynb"
    assert course.settings.name_lines  # the default: there is no headway.toml


def test_a_released_course_file_sets_the_points(released):
    (released / "headway.toml").write_text("[points]\nsequence_mask = 7\nAddNorm = 1\n")
    (bundle,) = find(released).bundles
    assert bundle.exercise("sequence_mask").points == 7


def test_a_missing_released_notebook_keeps_its_expected_name(released):
    (released / "02_masking.ipynb").rename(released / "mine.ipynb")
    course = find(released)
    assert course.file_for(course.bundles[0]).name == "02_masking.ipynb"


def test_a_folder_inside_a_kit_belongs_to_the_kit(tmp_path):
    (tmp_path / "headway.toml").touch()
    shutil.copytree(ROOT / "assignments/02_masking", tmp_path / "02_masking")
    assert find(tmp_path / "02_masking").root == tmp_path


def test_a_released_folder_inside_a_kit_is_nearer(tmp_path, released):
    (tmp_path / "headway.toml").touch()
    inner = tmp_path / "courses" / "02_masking"
    shutil.copytree(released, inner)
    assert find(inner).root == inner


def test_a_folder_without_a_course_is_reported(tmp_path):
    with pytest.raises(UsageError, match="change into the course folder"):
        find(tmp_path)
