"""Commands write into a device, a pipe, a socket or the file behind a link, and wait for no pipe that nobody opened."""

from __future__ import annotations

import json
import os
import select
import threading
from contextlib import contextmanager, suppress

import pytest
from helpers.command_line import RIGHT, run
from helpers.lanes import first_of_each
from helpers.targets import KINDS, null_device, target

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


@pytest.mark.parametrize("kind", first_of_each(KINDS))
def test_a_report_goes_where_output_says(tmp_path, monkeypatch, answer, kind):
    monkeypatch.chdir(tmp_path)
    with target(tmp_path / "there", kind) as (path, written):
        options = ("--format", "json", "--output", path, "--no-line")
        assert run("check", "transpose_qkv", "--file", answer, *options, cwd=tmp_path).returncode == 0
        got = written()
        assert got is None or json.loads(got)["exercises"][0]["outcome"] == "passed"


@pytest.mark.parametrize("kind", first_of_each(["link", "file", "pipe"]))
def test_the_table_goes_to_the_summary_of_the_step(tmp_path, monkeypatch, answer, kind):
    monkeypatch.chdir(tmp_path)
    with target(tmp_path / "there", kind) as (path, written):
        options = ("--file", answer, "--format", "github", "--no-line")
        done = run("check", "transpose_qkv", *options, cwd=tmp_path, GITHUB_STEP_SUMMARY=str(path))
        assert done.returncode == 0
        assert b"| 04 transpose\\_qkv | " in written()


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


# ---- a pipe in the place of a file of the course


EVERY_FILE = ("heads.py", "heads.ipynb", "bundle.json", "bundle.safetensors")


@pytest.mark.parametrize(
    "name", first_of_each([*(f"04_heads/{name}" for name in EVERY_FILE), "headway.toml", *OF_THE_GRADER])
)
def test_a_pipe_in_the_place_of_a_file_is_never_awaited(course, name):
    (course / ".headway").mkdir()
    (course / ANSWER).write_text(RIGHT, "utf-8")
    (course / name).unlink(missing_ok=True)
    os.mkfifo(course / name)
    with freeing(course / name) as waited:
        assert set(commands(course)) <= {0, 1, 2}
    assert not waited, "a command waited for the pipe"


@contextmanager
def freeing(pipe):
    """Write nothing to a pipe that somebody reads from for 5 seconds. Yield a list with an entry for each time."""
    waited, done = [], threading.Event()

    def write() -> None:
        while not done.wait(0.1):
            with suppress(OSError):  # no reader
                writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
                left = select.poll()
                left.register(writer, 0)  # an event comes when the reader is gone
                waited.extend([] if left.poll(5000) else [pipe])
                os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield waited
    finally:
        done.set()
        thread.join()
