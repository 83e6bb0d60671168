"""Archives are read within limits on memory and time, and refused with a sentence if they are bad."""

from pathlib import PurePosixPath

import pytest
from helpers.bounded import run_bounded
from helpers.hostile_archives import ANSWER, HOSTILE, broken_deflate, cut_tar, zip_of
from helpers.lanes import first_of_each

from grader.classroom.archives import members, read_member
from grader.support.errors import BadData


@pytest.mark.slow
@pytest.mark.parametrize("name", first_of_each(HOSTILE))
def test_a_hostile_archive_is_refused_within_bounds(name, tmp_path):
    make, sentence = HOSTILE[name]
    make(tmp_path / name)
    found = run_bounded(
        "helpers.hostile_archives:problems", str(tmp_path / name), memory=400 << 20, seconds=20
    )
    assert len(found) == 1
    assert sentence in found[0]


def test_a_broken_member_of_a_zip_affects_no_other_member(tmp_path):
    broken_deflate(tmp_path / "a.zip")
    found = members(tmp_path / "a.zip")
    assert [bool(problem) for problem in found.values()] == [True, False]
    assert read_member(tmp_path / "a.zip", PurePosixPath("answer.py")).decode() == ANSWER
    with pytest.raises(BadData, match="cannot be unpacked"):
        read_member(tmp_path / "a.zip", PurePosixPath("broken.py"))


@pytest.mark.parametrize("name", ["../up.py", "/etc/x.py", "a/../../b.py", "C:/x.py"])
def test_an_archive_that_points_outside_is_refused(tmp_path, name):
    zip_of(tmp_path / "bad.zip", {name: "x"})
    with pytest.raises(BadData, match="a path outside the archive"):
        members(tmp_path / "bad.zip")


def test_a_missing_member_and_a_cut_archive_are_refused_when_read(tmp_path):
    zip_of(tmp_path / "a.zip", {"other.py": ANSWER})
    with pytest.raises(BadData, match="no longer contains this file"):
        read_member(tmp_path / "a.zip", PurePosixPath("answer.py"))
    cut_tar(tmp_path / "a.tar.gz")
    with pytest.raises(BadData, match="cannot be read"):
        read_member(tmp_path / "a.tar.gz", PurePosixPath("answer.py"))
