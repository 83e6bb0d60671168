"""Which files are graded for an assignment, and which are set aside; test_walk.py has more of them."""

import json
import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest
from helpers.command_line import ROOT
from helpers.files import fill
from helpers.nbgrader_class.school import ASSIGNMENT, QKV, new_cell
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.nbgraderformat import SchemaTooOldError

from grader.nbgrader import notebook_file, set_aside
from grader.nbgrader.notebook_file import TolerantExporter
from grader.nbgrader.submissions import graded_as, is_submitted_elsewhere, submitted

NAME = f"{ASSIGNMENT}.ipynb"
ANSWER = json.dumps({"cells": [new_cell(QKV)], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Make the source of the assignment. Return the empty submission folder of one student."""
    shutil.copytree(ROOT / "assignments" / ASSIGNMENT, tmp_path / "source" / ASSIGNMENT)
    (tmp_path / "source" / ASSIGNMENT / "heads.ipynb").rename(tmp_path / "source" / ASSIGNMENT / NAME)
    made = tmp_path / "submitted" / "nora" / ASSIGNMENT
    made.mkdir(parents=True)
    return made


def test_two_files_with_answers_are_both_graded(folder):
    fill(folder, {"a.ipynb": ANSWER, "b.ipynb": ANSWER})
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
    fill(folder.parent, files)
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
    fill(folder, {"timestamp.txt": text})
    started = time.process_time()
    set_aside.set_aside([str(folder / NAME)])
    assert time.process_time() - started < 1
    assert (folder / "timestamp.txt").exists() is stays
    kept = folder.parents[2] / ".headway" / "set_aside" / "submitted" / "nora" / ASSIGNMENT / "timestamp.txt"
    assert kept.exists() is not stays


def test_what_is_set_aside_twice_is_kept_twice(folder):
    kept = folder.parents[2] / ".headway" / "set_aside" / "submitted" / "nora" / ASSIGNMENT
    for text in ("one", "two"):
        fill(folder, {"bundle.json/x.txt": text, "timestamp.txt": text})
        set_aside.set_aside([str(folder / NAME)])
        folder.rename(folder.with_name(text))
        folder.symlink_to(folder.with_name(text))
        set_aside.set_aside([str(folder / NAME)])
    for number, text in ("", "one"), (".1", "two"):
        assert (kept / f"bundle.json{number}" / "x.txt").read_text("utf-8") == text
        assert (kept / f"timestamp.txt{number}").read_text("utf-8") == text
        assert (kept / f"link{number}").is_symlink()
    assert len(list(kept.iterdir())) == 6


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
    fill(folder, {"heads.py": QKV, "timestamp.txt": "1." * 50_000})
    fill(folder.parents[1], {f"ada/{ASSIGNMENT}/{NAME}": ANSWER, f"ada/{ASSIGNMENT}/copy.ipynb": ANSWER})
    fill(folder.parents[1], {f"bob/{ASSIGNMENT}/a.docx": "x", "cyd/heads.py": QKV, "dee/other.py": "x = 1"})
    assert listed(folder) == {student: [NAME] for student in ("ada", "bob", "cyd", "nora")}
    assert listed(folder, "bob") == {"bob": [NAME]}
    assert not (folder / "timestamp.txt").exists()


@pytest.mark.slow
@pytest.mark.parametrize("grades", [False, True], ids=["first reading", "second"])
def test_a_notebook_that_nbgrader_refuses_ends_no_run(folder, grades):
    def refuse(nb, resources):  # as CheckCellMetadata does
        if any("refuse me" in cell.source for cell in nb.cells):
            raise SchemaTooOldError("too old", 0, 3)
        return nb, resources

    refuse.grades = grades
    fill(folder, {NAME: ANSWER.replace("def ", "# refuse me\\ndef ")})
    exporter = TolerantExporter()
    exporter.register_preprocessor(refuse, enabled=True)
    with closing(notebook_file._reader):
        text, _resources = exporter.from_filename(str(folder / NAME))
    assert "is not shown here, because this error occurred: SchemaTooOldError" in text


def test_an_assignment_that_the_grader_did_not_make_is_nbgraders_own(folder):
    fill(folder, {"mine.ipynb": ANSWER, "timestamp.txt": "1." * 50_000})
    (folder.parents[2] / "source" / ASSIGNMENT / "bundle.json").unlink()
    assert listed(folder) == {"nora": ["mine.ipynb"]}
    (folder / "mine.ipynb").unlink()
    with pytest.raises(NbGraderException):
        listed(folder)
