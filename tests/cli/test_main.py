"""`grader`: one sentence for wrong arguments and a full disk, encodings, help, and Ctrl-C during imports."""

import errno
import os
import re
import sys

import pytest
from helpers.command_line import GRADER, RIGHT, ROOT, process, run, run_process

from grader.cli.main import COMMANDS


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["check", "--file", "."], "is a folder, not a file; name a file in it"),
        (["check", "--file", "gone.py"], "does not exist"),
        (["check", "masked_sofmax"], "did you mean masked_softmax?"),
        (["check", "--format", "yaml"], "'yaml' is not one of"),
        (["check", "--hidden"], "needs the folder solutions/"),
        (["verify"], "for instructors"),
        (["hint", "nonsense"], "there is no exercise nonsense"),
        (["check", "02_masking/masking.py"], "write `grader check masking` for its assignment"),
        (["explain", "nonsense-at-all"], "no known mistake nonsense-at-all"),
        (["hint", "masked_sofmax"], "did you mean masked_softmax?"),
        (["hint", "02"], "has several exercises; name one of them: sequence_mask, masked_softmax"),
        (["reset", "masked_sofmax"], "did you mean masked_softmax?"),
        (["frobnicate"], "there is no command frobnicate; run `grader --help`"),
        (["cheque"], "did you mean `grader check`?"),
        (["check", "sequence_mask", "--output", "gone/x.json"], "there is no folder gone"),
    ],
)
def test_wrong_use_gives_one_sentence_and_status_2(course, args, sentence):
    done = run(*args, cwd=course)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("code", [errno.EROFS, errno.ENOSPC])
@pytest.mark.parametrize(
    "args", [["reset", "transpose_qkv"], ["check", "transpose_qkv", "--format", "json", "--output", "x.json"]]
)
def test_a_full_or_read_only_disk_is_reported_in_one_sentence(course, monkeypatch, args, code):
    def refuse(*_args):
        raise OSError(code, os.strerror(code))

    path = course / "04_heads" / "heads.py"
    path.write_text(RIGHT, "utf-8")
    monkeypatch.setattr("grader.support.files._replace", refuse)
    done = run(*args, cwd=course)
    assert done.returncode == 2
    (sentence,) = done.stderr.strip().splitlines()
    assert sentence.endswith(f" cannot be written: {os.strerror(code)}")
    assert path.read_text("utf-8") == RIGHT


@pytest.mark.slow
def test_a_cache_that_cannot_be_written_gets_a_sentence(tmp_path):
    (tmp_path / "cache").touch()  # a file: no folder can be made below it
    (tmp_path / "ada.py").write_text(RIGHT, "utf-8")
    done = run_process("grade", tmp_path / "ada.py", cwd=ROOT, XDG_CACHE_HOME=tmp_path / "cache")
    assert done.returncode == 2
    (sentence,) = done.stderr.strip().splitlines()
    assert "cannot be written: Not a directory" in sentence
    assert "XDG_CACHE_HOME" in sentence


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
@pytest.mark.parametrize(
    ("limit", "sentence"),
    [("-n 64", "needs 128 open files, and only 64 are allowed"), ("-v 64000", "is there enough memory?")],
)
def test_a_limit_that_is_too_low_gets_a_sentence(tmp_path, limit, sentence):
    (tmp_path / "ada.py").write_text(RIGHT, "utf-8")
    shell = f'ulimit {limit}; exec "$0" check --file ada.py'
    done = process("sh", "-c", shell, GRADER, cwd=tmp_path)
    assert (done.stdout, len(done.stderr.splitlines())) == ("", 1)
    assert sentence in done.stderr


@pytest.mark.parametrize(("args", "status", "shown"), [(["--help"], 0, "Usage"), ([], 0, "o not started")])
def test_marks_that_the_encoding_lacks_are_replaced(course, args, status, shown):
    done = run_process(*args, cwd=course, PYTHONIOENCODING="ascii")
    assert done.returncode == status
    assert shown in done.stdout


INTERRUPTED = """
import sys

class CtrlC:
    def find_spec(self, name, path, target=None):
        if name == "MODULE":
            raise KeyboardInterrupt

sys.meta_path.insert(0, CtrlC())
from grader.cli import run
run()
"""


@pytest.mark.parametrize("module", ["click", "numpy"])
def test_ctrl_c_during_imports_prints_one_word(module):
    code = INTERRUPTED.replace("MODULE", module)
    done = process(sys.executable, "-c", code)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.split() == ["stopped"]  # click first ends the line on which the terminal shows ^C


@pytest.mark.parametrize("command", ["check", "hint", "reset", "explain", "verify", "build", "doctor"])
def test_commands_have_help(course, command):
    done = run(command, "--help", cwd=course)
    assert done.returncode == 0
    assert f" {command} [OPTIONS]" in done.stdout.partition("\n")[0]


def test_the_help_has_three_groups_and_every_command_once(course):
    shown = run("--help", cwd=course).stdout
    groups = re.findall(r"^(Learn|Teach|Maintain):\n((?:  .+\n)+)", shown, re.M)
    assert [name for name, _rows in groups] == ["Learn", "Teach", "Maintain"]
    listed = [line.split()[0] for _name, rows in groups for line in rows.splitlines()]
    assert sorted(listed) == sorted(COMMANDS)
