"""Folders that hostile code filled are removed completely, and nothing outside them is removed."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from grader.sandbox.remove_tree import remove_tree


def test_a_folder_that_is_not_there_is_no_error(tmp_path):
    remove_tree(str(tmp_path / "not-there"))


def test_deep_folders_and_folders_without_permission_are_removed(tmp_path):
    top = tmp_path / "top"
    top.mkdir()
    deep = """
import os
for _ in range(1100):
    os.mkdir("d"); open("f", "w").close(); os.chdir("d")
"""
    subprocess.run([sys.executable, "-c", deep], cwd=top, check=True)
    (top / "closed" / "inner").mkdir(parents=True)
    (top / "closed" / "inner").chmod(0)
    (top / "closed").chmod(0)
    remove_tree(str(top))
    assert not top.exists()


def test_links_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine")
    top = tmp_path / "top"
    (top / "inner").mkdir(parents=True)
    (top / "link").symlink_to(outside)
    (top / "inner" / "link").symlink_to(outside / "file")
    remove_tree(str(top))
    assert not top.exists()
    assert (outside / "file").read_text() == "mine"


def test_a_link_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "top").symlink_to("outside")
    with pytest.raises(OSError, match="top"):
        remove_tree(str(tmp_path / "top"))
    assert os.path.isdir(tmp_path / "outside")
