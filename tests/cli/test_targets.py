"""Commands write into a device, a pipe or the file behind a link, and wait for no pipe that nobody opened."""

import json
import os

import pytest
from helpers.command_line import RIGHT, run
from helpers.lanes import first_of_each
from helpers.targets import null_device, target

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such things in folders")
ANSWER = "04_heads/heads.py"
OF_THE_GRADER = (
    ".headway/progress.json",
    ".headway/hints.json",
    ".headway/current",
    "04_heads/case_transpose_qkv.py",
)


@pytest.fixture(scope="module")
def answer(tmp_path_factory):
    file = tmp_path_factory.mktemp("answer") / "heads.py"
    file.write_text(RIGHT, "utf-8")
    return file


@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_reports_and_summaries_go_where_they_should(tmp_path, monkeypatch, answer, kind):
    """tests/support/test_atomic_files.py writes to all kinds of targets."""
    monkeypatch.chdir(tmp_path)
    check = ("check", "transpose_qkv", "--file", answer, "--no-line")
    with (
        target(tmp_path / "there", kind) as (report, reported),
        target(tmp_path / "step", kind) as (summary, summarised),
    ):
        assert run(*check, "--format", "json", "--output", report, cwd=tmp_path).returncode == 0
        assert json.loads(reported())["exercises"][0]["outcome"] == "passed"
        step = {"GITHUB_STEP_SUMMARY": str(summary)}
        assert run(*check, "--format", "github", cwd=tmp_path, **step).returncode == 0
        assert b"| 04 transpose\\_qkv | " in summarised()


def test_a_summary_that_cannot_be_written_is_one_sentence(tmp_path, answer):
    options = ("--file", answer, "--format", "github", "--no-line")
    done = run(
        "check", "transpose_qkv", *options, cwd=tmp_path, GITHUB_STEP_SUMMARY=str(tmp_path / "no/where")
    )
    assert done.stderr == (
        f"grader: {tmp_path}/no/where, which $GITHUB_STEP_SUMMARY names, cannot be written: No such file or directory\n"
    )
    assert "3 / 3 points" in done.stdout
    assert done.returncode == 2


def commands(course):
    """Run each command of a student that writes a file of the grader; return their exit statuses."""
    return [
        run(*command, cwd=course).returncode
        for command in (
            ("check", "transpose_qkv"),
            ("hint", "transpose_qkv"),
            ("case", "transpose_qkv"),
            ("--plain",),
        )
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", first_of_each(["device", "link"]))
def test_no_other_file_is_in_the_place_of_one_of_the_grader(course, tmp_path, kind):
    (tmp_path / "precious").write_text("precious", "utf-8")
    (course / ANSWER).write_text(RIGHT.replace("return ", "return 2 * "), "utf-8")
    (course / ".headway").mkdir()
    paths = [course / name for name in OF_THE_GRADER]
    for path in paths:
        null_device(path) if kind == "device" else path.symlink_to(tmp_path / "precious")
    before = [path.lstat().st_ino for path in paths]
    assert commands(course) == [1, 0, 2, 0]
    assert [path.lstat().st_ino for path in paths] == before
    assert (tmp_path / "precious").read_text("utf-8") == "precious"


@pytest.mark.slow
def test_a_reset_follows_a_link_inside_the_folder_only(course, tmp_path):
    path = course / ANSWER
    written = path.read_text("utf-8").replace(
        'raise NotImplementedError("transpose_qkv', 'return ("transpose_qkv'
    )
    for inside, other in (True, path.with_name("mine.py")), (False, tmp_path / "mine.py"):
        other.write_text(written, "utf-8")
        path.unlink()
        path.symlink_to(other)
        done = run("reset", "transpose_qkv", cwd=course)
        assert done.returncode == (0 if inside else 2)
        assert path.is_symlink()
        assert (other.read_text("utf-8") != written) == inside
    assert done.stderr == "grader: heads.py is a link that leads out of its folder; submit the file itself\n"


EVERY_FILE = ("heads.py", "heads.ipynb", "bundle.json", "bundle.safetensors")


@pytest.mark.timeout(120)  # seconds: a command that waits for the pipe fails
@pytest.mark.parametrize(
    "name", first_of_each([*(f"04_heads/{name}" for name in EVERY_FILE), "headway.toml", *OF_THE_GRADER])
)
def test_a_pipe_in_the_place_of_a_file_is_never_awaited(course, name):
    (course / ".headway").mkdir()
    (course / ANSWER).write_text(RIGHT, "utf-8")
    (course / name).unlink(missing_ok=True)
    os.mkfifo(course / name)
    assert set(commands(course)) <= {0, 1, 2}
