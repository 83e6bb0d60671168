"""The command line as people use it: real processes, exit statuses, one sentence for every refusal."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from helpers.report_schema import REPORT

ROOT = Path(__file__).resolve().parents[2]
GRADER = Path(sys.executable).with_name("grader")
RIGHT = (
    "import torch\n"
    "def transpose_qkv(X, num_heads):\n"
    "    B, T, D = X.shape\n"
    "    return X.reshape(B, T, num_heads, -1).transpose(1, 2).reshape(B * num_heads, T, -1)\n"
)
WRONG = RIGHT.replace(".transpose(1, 2)", "")


@pytest.fixture
def course(tmp_path) -> Path:
    """A student's copy of the course, with a home that holds nothing."""
    return Path(shutil.copytree(ROOT / "assignments", tmp_path / "course"))


def run(*args, cwd, **env):
    home = Path(cwd).parent / "home"
    home.mkdir(exist_ok=True)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("HEADWAY", "XDG"))}
    done = subprocess.run(
        [str(GRADER), *map(str, args)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        env={**inherited, "HOME": str(home), **env},
    )
    assert "Traceback" not in done.stdout + done.stderr
    return done


def write(course: Path, source: str) -> Path:
    path = course / "04_heads" / "heads.py"
    path.write_text(
        source + path.read_text().split('# %% exercise="transpose_output"')[1].join(["# %%\n", ""]), "utf-8"
    )
    return path


def test_an_untouched_course_is_not_started(course):
    done = run("check", cwd=course)
    assert done.returncode == 1
    assert "not started" in done.stdout
    assert "passed" not in done.stdout


def test_the_map_names_what_is_next_and_remembers(course):
    assert "Next: " in run(cwd=course).stdout
    (course / "04_heads" / "heads.py").write_text(RIGHT, "utf-8")
    assert run("check", "transpose_qkv", cwd=course).returncode == 0
    line = next(line for line in run(cwd=course).stdout.splitlines() if "transpose_qkv" in line)
    assert "passed" in line
    assert "3 / 3" in line


def test_filling_one_stub_changes_exactly_that(course):
    before = json.loads(run("check", "--format", "json", cwd=course).stdout)
    stub = (course / "04_heads" / "heads.py").read_text("utf-8")
    (course / "04_heads" / "heads.py").write_text(stub + "\n\n" + RIGHT.split("\n", 1)[1], "utf-8")
    after = json.loads(run("check", "--format", "json", cwd=course).stdout)
    changed = [
        a["name"]
        for b, a in zip(before["exercises"], after["exercises"], strict=True)
        if b["outcome"] != a["outcome"]
    ]
    assert changed == ["transpose_qkv"]


def test_a_wrong_answer_is_told_in_words_that_fit_80_columns(course):
    (course / "04_heads" / "heads.py").write_text(WRONG, "utf-8")
    done = run("check", "transpose_qkv", cwd=course, COLUMNS="80", NO_COLOR="1")
    assert done.returncode == 1
    for word in ("failed", "what", "where", "expected", "got", "next:"):
        assert word in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    assert "\x1b" not in done.stdout


def test_the_json_form_obeys_the_schema(course, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(WRONG, "utf-8")
    done = run("check", "--file", file, "--format", "json", cwd=course)
    assert done.returncode == 1
    record = json.loads(done.stdout)
    jsonschema.validate(record, REPORT)
    assert record["exercises"][0]["outcome"] == "failed"


def test_the_junit_form_can_be_read_by_others(course, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(WRONG, "utf-8")
    out = tmp_path / "report.xml"
    assert run("check", "--file", file, "--format", "junit", "--output", out, cwd=course).returncode == 1
    suite = ElementTree.parse(out).getroot().find("testsuite")
    assert int(suite.get("failures")) >= 1
    assert suite.find("testcase/failure").get("message")


def test_a_notebook_counts_when_it_is_the_one_that_was_changed(course):
    path = course / "04_heads" / "heads.ipynb"
    book = json.loads(path.read_text("utf-8"))
    cell = next(c for c in book["cells"] if "def transpose_qkv" in "".join(c["source"]))
    cell["source"] = "%matplotlib inline\n!ls\n" + RIGHT
    path.write_text(json.dumps(book), "utf-8")
    done = run("check", "04", "--format", "json", cwd=course)
    assert [e["outcome"] for e in json.loads(done.stdout)["exercises"]] == ["passed", "not_started"]


def test_when_both_were_changed_the_newer_counts_and_it_says_so(course):
    script, book = course / "04_heads" / "heads.py", course / "04_heads" / "heads.ipynb"
    script.write_text(WRONG, "utf-8")
    os.utime(script, (1, 1))
    cells = {"cells": [{"cell_type": "code", "source": RIGHT}]}
    book.write_text(json.dumps(cells), "utf-8")
    record = json.loads(run("check", "transpose_qkv", "--format", "json", cwd=course).stdout)
    assert record["exercises"][0]["outcome"] == "passed"
    assert "heads.ipynb, was graded" in record["remarks"][0]


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("empty.py", b"", "empty.py is empty"),
        ("latin.py", "x = 1\ny = 'é'\n".encode("latin-1"), "latin.py, line 2: not UTF-8 text"),
        ("wide.py", "def masked_softmax(): pass".encode("utf-16"), "not UTF-8 text"),
        ("zeros.py", b"x = 1\0\n", "holds null characters"),
        ("broken.ipynb", b'{"cells": [', "is not a notebook"),
        ("list.ipynb", b"[1, 2]", "is not a notebook"),
        ("notes.txt", b"def masked_softmax(): pass", "only .py and .ipynb"),
        ("nothing.py", b"x = 1\n", "defines no exercise of this course"),
        ("half.py", b"def masked_softmax(X:\n", "does not parse: half.py, line 1"),
        ("deep.ipynb", b"[" * 200_000, "is not a notebook"),
    ],
)
def test_bad_files_are_refused_with_one_sentence(course, tmp_path, name, content, sentence):
    path = tmp_path / name
    path.write_bytes(content)
    done = run("check", "--file", path, cwd=course)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not done.stdout


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["check", "--file", "."], "is a folder, not a file"),
        (["check", "--file", "gone.py"], "is not there"),
        (["check", "masked_sofmax"], "did you mean masked_softmax?"),
        (["check", "--format", "yaml"], "'yaml' is not one of"),
        (["check", "--hidden"], "needs the folder solutions/"),
        (["verify"], "for maintainers"),
        (["hint", "nonsense"], "there is no exercise nonsense"),
        (["explain", "nonsense-at-all"], "no mistake is called nonsense-at-all"),
        (["frobnicate"], "No such command 'frobnicate'"),
    ],
)
def test_wrong_use_is_one_sentence_and_status_2(course, args, sentence):
    done = run(*args, cwd=course)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


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
def test_ctrl_c_while_it_loads_is_one_word(module):
    code = INTERRUPTED.replace("MODULE", module)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "stopped\n")


def test_outside_a_course_it_says_where_it_looked(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    done = run("check", cwd=empty)
    assert done.returncode == 2
    assert "no headway.toml in" in done.stderr


@pytest.mark.parametrize("command", ["check", "hint", "reset", "explain", "verify", "build", "doctor"])
def test_every_command_has_help(course, command):
    done = run(command, "--help", cwd=course)
    assert done.returncode == 0
    assert "Usage: grader" in done.stdout


def test_hints_go_one_level_further_at_each_call(course):
    first, second = (
        run("hint", "transpose_qkv", cwd=course).stdout,
        run("hint", "transpose_qkv", cwd=course).stdout,
    )
    assert "1. " in first
    assert "2. " not in first
    assert "2. " in second


def test_reset_gives_the_stub_back_and_keeps_the_old_file(course):
    path = course / "04_heads" / "heads.py"
    stub = path.read_text("utf-8")
    path.write_text(
        stub.replace('raise NotImplementedError("transpose_qkv is not written yet")', "return X"), "utf-8"
    )
    assert run("reset", "transpose_qkv", cwd=course).returncode == 0
    assert path.read_text("utf-8") == stub
    kept = list(path.parent.glob("heads.*.old"))
    assert len(kept) == 1
    assert "return X" in kept[0].read_text("utf-8")


def test_explain_lists_and_shows_pages(course):
    listed = run("explain", "masked_softmax", cwd=course).stdout
    assert listed.strip()
    name = listed.split()[0]
    assert name in run("explain", name, cwd=course).stdout


def test_explain_lists_one_line_each_in_a_pipe_and_sets_in_what_goes_on_in_a_terminal(course):
    piped = run("explain", "masked_softmax", cwd=course).stdout.splitlines()
    assert all("  masked_softmax: " in line for line in piped)
    assert max(map(len, piped)) > 80  # else nothing here is ever broken
    colored = run("explain", "masked_softmax", cwd=course, FORCE_COLOR="1", COLUMNS="50").stdout
    seen = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert max(map(len, seen.splitlines())) <= 50
    entries = seen.replace("\n    ", " ").splitlines()
    assert [entry.split() for entry in entries] == [line.split() for line in piped]


def test_after_a_known_mistake_hints_go_on_from_there(course):
    (course / "04_heads" / "heads.py").write_text(WRONG, "utf-8")
    assert "known mistake" in run("check", "transpose_qkv", cwd=course).stdout
    first, second = (
        run("hint", "transpose_qkv", cwd=course).stdout,
        run("hint", "transpose_qkv", cwd=course).stdout,
    )
    assert "about your last answer: " in first
    assert "grader explain" not in first
    assert "a page about it: grader explain heads-cut-straight" in second
