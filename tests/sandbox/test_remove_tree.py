"""Folders that hostile code filled are removed completely, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from grader.sandbox.remove_tree import remove_tree


def test_a_folder_that_is_not_there_is_no_error(tmp_path):
    remove_tree(str(tmp_path / "not-there"))


def test_deep_and_closed_folders_go(tmp_path):
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
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("mine")
    top = tmp_path / "top"
    (top / "inner").mkdir(parents=True)
    (top / "link").symlink_to(kept)
    (top / "inner" / "link").symlink_to(kept / "file")
    remove_tree(str(top))
    assert not top.exists()
    assert (kept / "file").read_text() == "mine"


def test_a_link_in_its_place_is_refused(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / "top").symlink_to("kept")
    with pytest.raises(OSError, match="top"):
        remove_tree(str(tmp_path / "top"))
    assert os.path.isdir(tmp_path / "kept")
