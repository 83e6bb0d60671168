"""A file becomes a submission, or one sentence says why it does not."""

import json
import os

import pytest

from grader.intake.read import Blocked, read_submission
from grader.intake.syntax import MAX_SOURCE_BYTES


def write(tmp_path, data, name="answer.py"):
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def refused(path):
    with pytest.raises(Blocked) as caught:
        read_submission(path)
    sentence = str(caught.value)
    assert sentence.isprintable(), "it has control characters"
    assert len(sentence) < 400
    return sentence


def test_a_script_is_one_unit_under_its_own_name(tmp_path):
    (unit,) = read_submission(write(tmp_path, "\ufeffx = 1\r\ny = 2\rz = 3\n")).units
    assert (unit.name, unit.source) == ("answer.py", "x = 1\ny = 2\nz = 3\n")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"x = 1\n\n# \xe4\xf6\xfc\n", "answer.py, line 3: not UTF-8 text"),
        (b"# coding: latin-1\n\xe4 = 1\n", "answer.py, line 2: not UTF-8 text"),
        ("x = 1\n".encode("utf-16"), "answer.py, line 1: not UTF-8 text"),
        (b"", "answer.py is empty"),
        (b" \n\t\n", "answer.py is empty"),
        (b"x = 1\0\n", "holds null characters"),
        (b"#" * (MAX_SOURCE_BYTES + 1), "larger than 1 MiB"),
    ],
)
def test_a_file_that_is_empty_too_large_or_not_text_is_refused(tmp_path, data, sentence):
    assert sentence in refused(write(tmp_path, data))


@pytest.mark.parametrize("name", ["answer.rst", "answer", "answer.PY", "answer.py.exe", "answer.pkl"])
def test_other_kinds_of_files_are_refused(tmp_path, name):
    assert "only .py, .ipynb, .md and .txt files" in refused(write(tmp_path, "x = 1", name))


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path):
    (tmp_path / "work.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "loop.py").symlink_to("loop.py")
    assert refused(tmp_path / "work.py") == "work.py is a folder, not a file; name a file in it"
    assert refused(tmp_path / "gone.py") == f"{tmp_path / 'gone.py'} does not exist"
    assert "pipe.py is not a regular file" in refused(tmp_path / "pipe.py")
    assert "does not exist" in refused(tmp_path / "loop.py")
    assert "cannot be read" in refused(tmp_path / ("x" * 300 + ".py"))


def test_a_link_is_not_followed_out_of_its_folder(tmp_path):
    """A link in a submission may lead to a file that only the instructor may read."""
    (tmp_path / "secret").write_text("not_for_the_report = 1\n")
    (tmp_path / "submitted").mkdir()
    link = tmp_path / "submitted" / "answer.py"
    link.symlink_to(tmp_path / "secret")
    assert refused(link) == "answer.py is a link that leads out of its folder; submit the file itself"
    (tmp_path / "submitted" / "work.txt").write_text("x = 1\n")
    inside = tmp_path / "submitted" / "second.py"
    inside.symlink_to("work.txt")
    assert read_submission(inside).units[0].source == "x = 1\n"


@pytest.mark.parametrize("name", [b"\x1b[2J\xe2\x80\xae.py", b"a\nb\tc.py", b"\xff\xfe.py", b"[foo].py"])
def test_a_file_with_a_hostile_name_is_read(tmp_path, name):
    path = tmp_path / os.fsdecode(name)
    path.write_text("x = 1\n")
    submission = read_submission(path)
    assert submission.units[0].name.isprintable()
    assert len(submission.content) == 64  # a SHA-256 hash
    path.write_text("")
    assert "is empty" in refused(path)


def test_the_content_changes_with_every_character_and_every_cell(tmp_path):
    def content(*sources):
        cells = [{"cell_type": "code", "source": source} for source in sources]
        return read_submission(write(tmp_path, json.dumps({"cells": cells}), "a.ipynb")).content

    assert content("x = 1") == content("x = 1")
    contents = {
        content("x = 1"),
        content("x = 2"),
        content("x", " = 1"),
        content("", "x = 1"),
        content("x = '\ud800'"),
        content("x = ["),
        content("x = ("),
    }
    assert len(contents) == 7


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("not json", "a.ipynb is not a notebook: line 1 is not JSON"),
        ('{\n"cells": [,]}', "line 2 is not JSON"),
        ('{"cells": ' + "[" * 100_000, "nested too deeply"),
        ('{"cells": ' + "1" * 10_000 + "}", "is not JSON"),
        ("[]", "no list of cells"),
        ("{}", "no list of cells"),
        ('{"cells": 5}', "no list of cells"),
        ('{"cells": null}', "no list of cells"),
        ('{"worksheets": 5}', "no list of cells"),
    ],
)
def test_a_file_that_is_not_a_notebook_is_refused_with_a_reason(tmp_path, text, sentence):
    assert sentence in refused(write(tmp_path, text, "a.ipynb"))
