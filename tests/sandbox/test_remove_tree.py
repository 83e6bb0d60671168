"""Folders that hostile code filled are removed completely, and nothing outside them is removed."""

import os
import subprocess
import sys

import pytest

from grader.sandbox.landlock import remove_tree


def test_deep_closed_and_linked_folders_are_removed_and_no_link_is_followed(tmp_path):
    top, outside = tmp_path / "top", tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("mine")
    (top / "closed" / "inner").mkdir(parents=True)
    (top / "link").symlink_to(outside)
    (top / "closed" / "link").symlink_to(outside / "file")
    deep = "import os\nfor _ in range(64): os.mkdir('d'); open('f', 'w').close(); os.chdir('d')"
    subprocess.run([sys.executable, "-c", deep], cwd=top, check=True)
    (top / "closed" / "inner").chmod(0)
    (top / "closed").chmod(0)
    remove_tree(str(top))
    assert not top.exists()
    assert (outside / "file").read_text() == "mine"
    remove_tree(str(top))  # it is not there, which is no error


def test_a_link_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "outside" / "folder").mkdir(parents=True)
    (tmp_path / "top").symlink_to("outside")
    with pytest.raises(OSError, match="top"):
        remove_tree(str(tmp_path / "top"))
    assert os.listdir(tmp_path / "outside") == ["folder"]
