"""`grader start`: the course in a new folder, and what it refuses."""

import pytest
from helpers.command_line import run

from grader.release.wheels import WHEELS


@pytest.mark.parametrize("folder", ["attention", ".", "new/attention"])
def test_start_writes_the_course_into_an_empty_or_a_new_folder(tmp_path, folder):
    here = tmp_path / "here"
    here.mkdir()
    done = run("start", folder, cwd=here, UV="")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[-3:] == ["cd", folder, "grader"]
    course = here / folder
    assert {"headway.toml", "pyproject.toml", ".gitignore", "AGENTS.md"} <= {p.name for p in course.iterdir()}
    assert len(list((course / WHEELS).iterdir())) == 1
    listed = run("--plain", cwd=course)
    assert listed.returncode == 0
    assert "masked_softmax" in listed.stdout
    assert not list(here.rglob(".*.headway-*"))


def test_uv_runs_the_command_that_start_names(tmp_path):
    (tmp_path / "here").mkdir()
    done = run("start", "my course", cwd=tmp_path / "here", UV="/bin/uv")
    assert [line.strip() for line in done.stdout.splitlines()[-2:]] == ["cd 'my course'", "uv run grader"]


@pytest.mark.parametrize(
    ("folder", "sentence"),
    [
        ("full", "full is not an empty folder"),
        ("full/notes.md", "not an empty folder"),
    ],
)
def test_start_never_touches_a_folder_with_files(tmp_path, folder, sentence):
    here = tmp_path / "here"
    (here / "full").mkdir(parents=True)
    (here / "full" / "notes.md").write_text("mine", "utf-8")
    done = run("start", folder, cwd=here)
    assert (done.returncode, done.stdout) == (2, "")
    (said,) = done.stderr.splitlines()
    assert sentence in said
    assert [path.relative_to(here).as_posix() for path in sorted(here.rglob("*"))] == [
        "full",
        "full/notes.md",
    ]
    assert (here / "full" / "notes.md").read_text("utf-8") == "mine"
