"""`discover` finds the submitted files in a folder and in archives, with their students and exercises."""

import os
import shutil
import tarfile
import zipfile

import pytest
from helpers.files import fill

from grader.bundle.model import Bundle
from grader.classroom.bounded_reader import BoundedReader
from grader.classroom.discover import discover, is_changed
from grader.support.errors import BadData

RIGHT = "def transpose_qkv(X, num_heads): ...\n"


def test_the_path_of_a_file_gives_its_student_and_exercises(bundles: list[Bundle], tmp_path):
    heads = next(b for b in bundles if b.assignment == "04_heads")
    fill(
        tmp_path,
        {
            "ada.py": "x",
            "bob/notes.py": "x",
            "bob/heads.py": "x",
            "cyd/04_heads/mine.ipynb": "x",
            ".git/x.py": "x",
            "readme.txt": "x",
        },
    )
    (tmp_path / "bob" / "heads.ipynb").write_text("{}", "utf-8")
    os.utime(tmp_path / "bob" / "heads.py", (1, 1))  # older than the notebook, which is therefore graded
    (tmp_path / "link.py").symlink_to(tmp_path / "ada.py")
    found = {file.submission: (file.student, file.expected) for file in discover(tmp_path, bundles)}
    both = tuple(e.name for e in heads.exercises)
    assert found == {
        "ada.py": ("ada", ()),
        "bob/notes.py": ("bob", ()),
        "bob/heads.ipynb": ("bob", both),
        "cyd/04_heads/mine.ipynb": ("cyd", both),
    }


def test_a_folder_without_anything_to_grade_says_what_it_holds(bundles: list[Bundle], tmp_path):
    fill(
        tmp_path,
        {
            "ada/heads.py": "x",
            "ada/02_masking/mine.docx": "x",
            "ada/02_masking/more/notes.txt": "x",
            "bob/homework.docx": "x",
            "cyd/.git/x.py": "x",
            "dee/pictures/a.png": "x",
            "dee/heads.py": "x",
            "readme.txt": "x",
        },
    )
    (tmp_path / "bob" / "heads.py").symlink_to(tmp_path / "ada" / "heads.py")
    (tmp_path / "eve").symlink_to(tmp_path / "ada")
    found = {file.submission: file for file in discover(tmp_path, bundles)}
    assert {name: (file.student, file.problem) for name, file in found.items() if file.problem} == {
        "ada/02_masking": (
            "ada",
            "the folder 02_masking holds no .py, no .ipynb and no archive; it holds mine.docx, notes.txt",
        ),
        "bob": (
            "bob",
            "the folder bob holds no .py, no .ipynb and no archive; it holds heads.py (a link), homework.docx",
        ),
        "cyd": ("cyd", "the folder cyd is empty"),
        "eve": ("eve", "eve is a symbolic link; submit the file itself"),
    }
    of_ada = discover(tmp_path, bundles, "ada")
    assert {file.submission for file in of_ada} == {"ada/heads.py", "ada/02_masking"}


def test_an_archive_counts_as_the_folder_it_holds(bundles: list[Bundle], tmp_path):
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        archive.writestr("04_heads/heads.py", RIGHT)
        archive.writestr("__MACOSX/heads.py", "x")
    with tarfile.open(tmp_path / "bob.tar.gz", "w:gz") as archive:
        archive.add(fill(tmp_path / "elsewhere.d", {"mine.py": RIGHT}) / "mine.py", "mine.py")
    shutil.rmtree(tmp_path / "elsewhere.d")
    found = {file.submission: file for file in discover(tmp_path, bundles)}
    assert {name: file.student for name, file in found.items()} == {
        "ada.zip/04_heads/heads.py": "ada",
        "bob.tar.gz/mine.py": "bob",
    }
    assert all(file.read().decode() == RIGHT for file in found.values())
    assert found["ada.zip/04_heads/heads.py"].expected


@pytest.mark.parametrize("error", [BadData("takes too long to read"), BadData("cannot be read")])
def test_a_file_that_cannot_be_read_affects_no_other_student(bundles, tmp_path, monkeypatch, error):
    """The files of ada are read to find out which one was changed; her archive may change meanwhile."""
    call = BoundedReader.call

    def refuse(reader, function, path, read, *more):
        if function is is_changed and "ada" in str(read.args[0]):
            raise error
        return call(reader, function, path, read, *more)

    monkeypatch.setattr(BoundedReader, "call", refuse)
    for student in ("ada", "bob"):
        fill(tmp_path / student, {"heads.py": RIGHT, "heads.ipynb": "{}"})
        os.utime(tmp_path / student / "heads.ipynb", (1, 1))
    found = {file.student: file for file in discover(tmp_path, bundles)}
    assert found["ada"].problem.endswith(str(error))
    assert found["ada"].expected
    assert (found["bob"].problem, found["bob"].file.name) == ("", "heads.py")


@pytest.mark.parametrize("held", [[], ["answer.docx"], ["heads.safetensors"]])
def test_an_archive_without_anything_to_grade_says_so(bundles: list[Bundle], tmp_path, held):
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        for name in held:
            archive.writestr(name, "x")
    (file,) = discover(tmp_path, bundles)
    assert (file.student, file.problem) == ("ada", "ada.zip holds no .py and no .ipynb")


def test_only_50_files_of_a_student_are_graded(bundles: list[Bundle], tmp_path):
    fill(tmp_path / "ada", {f"a{n:03}.py": "x" for n in range(60)} | {"heads.py": RIGHT})
    fill(tmp_path, {"bob.py": RIGHT})
    found = discover(tmp_path, bundles)
    assert len(found) == 52  # 50 of ada's files, an entry for the others, and bob.py
    assert "ada/heads.py" in [file.submission for file in found if file.expected]
    (refused,) = [file for file in found if file.problem]
    assert refused.problem == "11 more files were not graded; the grader reads 50 files per student"
