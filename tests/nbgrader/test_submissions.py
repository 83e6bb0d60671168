"""Which files are graded for an assignment, and which are set aside; test_walk.py has more of them."""

from __future__ import annotations

import json
import shutil
import time
import zipfile
from pathlib import Path

import pytest
from helpers.nbgrader_class.school import ASSIGNMENT, QKV, ROOT, new_cell
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory

from grader.nbgrader import set_aside
from grader.nbgrader.submissions import graded_as, is_submitted_elsewhere, submitted

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


def submit(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".zip"):
            with zipfile.ZipFile(path, "w") as archive:
                archive.writestr("masking/mine.py", text)
        else:
            path.write_text(text, "utf-8")


def test_two_files_with_answers_are_both_graded(folder):
    submit(folder, {"a.ipynb": ANSWER, "b.ipynb": ANSWER})
    names = [f"nora/{ASSIGNMENT}/{name}.ipynb" for name in "ab"]
    assert [(file.submission, file.problem) for file in submitted(folder / NAME)] == [(n, "") for n in names]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({f"assignment2/{NAME}": ANSWER}, f"assignment2/{NAME}"),
        ({"homework.py": QKV}, "homework.py"),
        ({"homework.py": "x = 1\n"}, None),
        ({"01_attention_pooling/heads.py": QKV}, None),
        ({"homework.docx": "x"}, None),
    ],
)
def test_a_file_in_a_wrong_folder_is_graded(folder, files, expected):
    shutil.copytree(
        ROOT / "assignments" / "01_attention_pooling", folder.parents[2] / "source" / "01_attention_pooling"
    )
    folder.rmdir()
    submit(folder.parent, files)
    assert is_submitted_elsewhere(folder / NAME) is (expected is not None)
    if expected:
        (file,) = submitted(folder / NAME)
        assert file.submission == f"nora/{expected}"
        assert graded_as(file, folder / NAME) == f"{expected} was graded as {NAME}"


@pytest.mark.parametrize(
    ("text", "stays"),
    [("2027-03-01 18:00:00 UTC\n", True), ("", True), ("yesterday", False), ("1." * 1_000_000, False)],
)
def test_a_timestamp_that_nbgrader_cannot_read_is_set_aside(folder, text, stays):
    submit(folder, {"timestamp.txt": text})
    started = time.process_time()
    set_aside.set_aside([str(folder / NAME)])
    assert time.process_time() - started < 1
    assert (folder / "timestamp.txt").exists() is stays
    kept = folder.parents[2] / ".headway" / "set_aside" / "submitted" / "nora" / ASSIGNMENT / "timestamp.txt"
    assert kept.exists() is not stays


def test_what_is_set_aside_twice_is_kept_twice(folder):
    kept = folder.parents[2] / ".headway" / "set_aside" / "submitted" / "nora"
    for text in ("one", "two"):
        submit(folder, {"bundle.json/x.txt": text, "timestamp.txt": text})
        set_aside.set_aside([str(folder / NAME)])
        folder.rename(folder.with_name(text))
        folder.symlink_to(folder.with_name(text))
        set_aside.set_aside([str(folder / NAME)])
    texts = {
        path.relative_to(kept).as_posix(): path.read_text("utf-8")
        for path in kept.rglob("*.txt*")
        if path.is_file()
    }
    assert texts == {
        f"{ASSIGNMENT}/bundle.json/x.txt": "one",
        f"{ASSIGNMENT}/bundle.json.1/x.txt": "two",
        f"{ASSIGNMENT}/timestamp.txt": "one",
        f"{ASSIGNMENT}/timestamp.txt.1": "two",
    }
    assert {path.name for path in (kept / ASSIGNMENT).iterdir() if path.is_symlink()} == {"link", "link.1"}


def listed(folder: Path, student: str = "*") -> dict[str, list[str]]:
    """Return student → the notebooks that nbgrader grades, by their names."""
    course = CourseDirectory(root=str(folder.parents[2]), assignment_id=folder.name, student_id=student)
    converter = Autograde(coursedir=course)
    converter.init_notebooks()
    return {
        Path(place).parent.name: [Path(notebook).name for notebook in notebooks]
        for place, notebooks in converter.assignments.items()
    }


def test_each_submission_is_listed_before_nbgrader_looks_at_it(folder):
    submit(folder, {"heads.py": QKV, "timestamp.txt": "1." * 50_000})
    submit(folder.parents[1], {f"ada/{ASSIGNMENT}/{NAME}": ANSWER, f"ada/{ASSIGNMENT}/copy.ipynb": ANSWER})
    submit(folder.parents[1], {f"bob/{ASSIGNMENT}/a.docx": "x", "cyd/heads.py": QKV, "dee/other.py": "x = 1"})
    assert listed(folder) == {student: [NAME] for student in ("ada", "bob", "cyd", "nora")}
    assert listed(folder, "bob") == {"bob": [NAME]}
    assert not (folder / "timestamp.txt").exists()


def test_an_assignment_that_the_grader_did_not_make_is_nbgraders_own(folder):
    submit(folder, {"mine.ipynb": ANSWER, "timestamp.txt": "1." * 50_000})
    (folder.parents[2] / "source" / ASSIGNMENT / "bundle.json").unlink()
    assert listed(folder) == {"nora": ["mine.ipynb"]}
    (folder / "mine.ipynb").unlink()
    with pytest.raises(NbGraderException):
        listed(folder)
