"""What lies in a folder of submissions: whose each file is, what its place calls for, and what an archive holds."""

from __future__ import annotations

import os
import shutil
import tarfile
import zipfile

import pytest
from helpers.files import fill

from grader.bundle.model import Bundle
from grader.classroom.archives import BadArchive, members
from grader.classroom.discover import discover

RIGHT = "def transpose_qkv(X, num_heads): ...\n"


def test_whose_a_file_is_and_what_its_place_calls_for(bundles: list[Bundle], tmp_path):
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
    os.utime(tmp_path / "bob" / "heads.py", (1, 1))
    (tmp_path / "link.py").symlink_to(tmp_path / "ada.py")
    found = {h.submission: (h.student, h.expected) for h in discover(tmp_path, bundles)}
    both = tuple(e.name for e in heads.exercises)
    assert found == {
        "ada.py": ("ada", ()),
        "bob/notes.py": ("bob", ()),
        "bob/heads.ipynb": ("bob", both),
        "cyd/04_heads/mine.ipynb": ("cyd", both),
    }


def test_an_archive_counts_as_the_folder_it_holds(bundles: list[Bundle], tmp_path):
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive:
        archive.writestr("04_heads/heads.py", RIGHT)
        archive.writestr("__MACOSX/heads.py", "x")
    with tarfile.open(tmp_path / "bob.tar.gz", "w:gz") as archive:
        archive.add(fill(tmp_path / "elsewhere.d", {"mine.py": RIGHT}) / "mine.py", "mine.py")
    shutil.rmtree(tmp_path / "elsewhere.d")
    found = {h.submission: h for h in discover(tmp_path, bundles)}
    assert {name: h.student for name, h in found.items()} == {
        "ada.zip/04_heads/heads.py": "ada",
        "bob.tar.gz/mine.py": "bob",
    }
    assert all(h.read().decode() == RIGHT for h in found.values())
    assert found["ada.zip/04_heads/heads.py"].expected


@pytest.mark.parametrize("name", ["../up.py", "/etc/x.py", "a/../../b.py", "C:/x.py"])
def test_an_archive_that_points_outside_is_refused(tmp_path, bundles, name):
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(BadArchive, match="outside itself"):
        members(path)
    assert "outside itself" in discover(tmp_path, bundles)[0].problem


def test_an_archive_that_would_swell_is_refused(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(9):
            archive.writestr(f"{number}.py", b" " * (8 << 20))
    with pytest.raises(BadArchive, match="more than 64 MiB"):
        members(path)
    path.write_bytes(b"PK\3\4 and no more")
    with pytest.raises(BadArchive, match="cannot be read"):
        members(path)
