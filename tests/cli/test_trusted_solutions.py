"""A command in a student's clone runs no file of its solutions/, unless it is named with --course."""

import shutil

import pytest
from helpers.command_line import RIGHT, ROOT, run

COMMANDS = {
    "grade": ("grade", "submissions"),
    "regrade": ("regrade", "submissions"),
    "check": ("check", "04", "--hidden"),
    "adopt": ("adopt", "transpose_qkv:0123456789abcdef", "--says", "a name", "--asks", "a question"),
    "comment": ("comment", "transpose_qkv:0123456789abcdef", "a comment"),
    "verify": ("verify",),
    "build": ("build",),
    "release": ("release", "kit"),
    "course": ("course", "nbgrader-course"),
    "new": ("new", "04_heads", "another"),
}


@pytest.fixture
def clone(tmp_path):
    """Return a student's clone whose solutions/ writes a marker when it is run."""
    folder = tmp_path / "clone"
    for top in ("assignments", "solutions"):
        shutil.copytree(ROOT / top / "04_heads", folder / top / "04_heads")
    shutil.copy(ROOT / "assignments" / "headway.toml", folder / "assignments")
    for file in (folder / "solutions").rglob("*.py"):
        file.write_text(f"open({str(tmp_path / 'ran')!r}, 'a').close()\n{file.read_text('utf-8')}", "utf-8")
    (folder / "submissions").mkdir()
    (folder / "submissions" / "ada.py").write_text(RIGHT, "utf-8")
    (tmp_path / "seed").write_text("a seed that only this test knows", "utf-8")
    return folder


@pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)
def test_a_command_in_a_students_clone_does_not_run_its_solutions(clone, words):
    done = run(*words, cwd=clone, HEADWAY_SEED_FILE=str(clone.parent / "seed"))
    assert not (clone.parent / "ran").exists()
    assert done.returncode == 2
    assert f"--course {clone}" in done.stderr.replace("\n", " ")


@pytest.mark.slow
def test_a_clone_that_is_named_is_trusted(clone):
    done = run("build", "--check", "--course", clone, cwd=clone.parent)
    assert (clone.parent / "ran").exists()
    assert "is not the checkout" not in done.stderr
