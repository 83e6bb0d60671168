"""A notebook with another name than the assignment: which file is graded, and what is reported."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from helpers.nbgrader_class.school import ASSIGNMENT, QKV, ROOT, new_cell

from grader.nbgrader.renamed import add_expected, submitted

NAME = f"{ASSIGNMENT}.ipynb"
ANSWER = json.dumps({"cells": [new_cell(QKV)], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
NOTES = ANSWER.replace("transpose_qkv", "something_else")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make the source of the assignment. Return the empty submission folder of one student."""
    shutil.copytree(ROOT / "assignments" / ASSIGNMENT, tmp_path / "source" / ASSIGNMENT)
    (tmp_path / "source" / ASSIGNMENT / "heads.ipynb").rename(tmp_path / "source" / ASSIGNMENT / NAME)
    made = tmp_path / "submitted" / "nora" / ASSIGNMENT
    made.mkdir(parents=True)
    return made


def test_the_only_notebook_is_graded_whatever_its_name(folder):
    (folder / "heads_nora_final(2).ipynb").write_text(NOTES, "utf-8")
    found = submitted(folder / NAME)
    assert found.path == folder / "heads_nora_final(2).ipynb"
    assert found.remarks == (f"heads_nora_final(2).ipynb was graded as {NAME}",)


def test_of_several_notebooks_the_only_answer_is_graded(folder):
    (folder / "mine.ipynb").write_text(ANSWER, "utf-8")
    (folder / "notes.ipynb").write_text(NOTES, "utf-8")
    found = submitted(folder / NAME)
    assert found.path == folder / "mine.ipynb"
    assert found.remarks == (
        f"mine.ipynb was graded as {NAME}",
        "also in the folder, not graded: notes.ipynb",
    )


def test_of_two_answers_none_is_chosen(folder):
    for name in ("a.ipynb", "b.ipynb"):
        (folder / name).write_text(ANSWER, "utf-8")
    found = submitted(folder / NAME)
    assert found.path is None
    assert "a.ipynb, b.ipynb" in found.problem


def test_a_copy_beside_the_real_notebook_is_reported(folder):
    (folder / NAME).write_text(NOTES, "utf-8")
    (folder / f"{ASSIGNMENT}-Copy1.ipynb").write_text(ANSWER, "utf-8")
    found = submitted(folder / NAME)
    assert found.path == folder / NAME
    assert found.remarks == (f"also in the folder, not graded: {ASSIGNMENT}-Copy1.ipynb",)


def test_a_link_does_not_count_as_the_answer_it_points_to(folder):
    (folder / "notes.ipynb").write_text(NOTES, "utf-8")
    (folder.parent / "other.ipynb").write_text(ANSWER, "utf-8")
    (folder / "link.ipynb").symlink_to(folder.parent / "other.ipynb")
    assert submitted(folder / NAME).path is None


def test_a_list_without_the_expected_name_is_replaced_by_it(folder):
    """The list: the notebooks that nbgrader found in a submission and is going to convert."""
    without_it = [str(folder / "mine.ipynb")]
    add_expected(folder, without_it)
    assert without_it == [str(folder / NAME)]
    with_it = [str(folder / NAME), str(folder / "copy.ipynb")]
    add_expected(folder, with_it)
    assert with_it == [str(folder / NAME), str(folder / "copy.ipynb")]
