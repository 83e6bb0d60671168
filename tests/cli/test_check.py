"""`grader check`: outcomes, formats, settings of the course, and a sentence for a file that cannot be graded."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest
from helpers.command_line import RIGHT, WRONG, run
from helpers.report_rules import assert_obeys

from grader.intake.course import BUNDLED

ROOT = Path(__file__).resolve().parents[2]


def test_an_untouched_course_is_not_started(course):
    done = run("check", cwd=course)
    assert done.returncode == 1
    assert "not started" in done.stdout
    assert "passed" not in done.stdout


@pytest.mark.slow
def test_one_filled_stub_changes_one_outcome(course):
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


def test_json_obeys_the_rules_of_reports(course, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(WRONG, "utf-8")
    out = tmp_path / "report.json"
    done = run("check", "--file", file, "--format", "json", "--output", out, cwd=course)
    assert done.returncode == 1
    record = json.loads(out.read_text("utf-8"))
    assert_obeys(record)
    assert record["exercises"][0]["outcome"] == "failed"


def test_a_changed_notebook_is_graded_instead_of_the_script(course):
    path = course / "04_heads" / "heads.ipynb"
    book = json.loads(path.read_text("utf-8"))
    cell = next(c for c in book["cells"] if "def transpose_qkv" in "".join(c["source"]))
    cell["source"] = "%matplotlib inline\n!ls\n" + RIGHT
    path.write_text(json.dumps(book), "utf-8")
    done = run("check", "04", "--format", "json", cwd=course)
    assert [e["outcome"] for e in json.loads(done.stdout)["exercises"]] == ["passed", "not_started"]


def test_the_newer_of_two_changed_files_is_graded(course):
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
        ("notes.rst", b"def masked_softmax(): pass", "only .py, .ipynb, .md and .txt"),
        ("notes.txt", b"def masked_softmax(): pass", "notes.txt has no code"),
        ("nothing.py", b"x = 1\n", "no exercise of this course found in nothing.py"),
        ("half.py", b"def other(X:\n", "it has a syntax error: half.py, line 1"),
        ("deep.ipynb", b"[" * 200_000, "is not a notebook"),
    ],
)
def test_a_file_that_cannot_be_graded_is_reported_in_one_sentence(course, tmp_path, name, content, sentence):
    path = tmp_path / name
    path.write_bytes(content)
    done = run("check", "--file", path, cwd=course)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not done.stdout


def test_a_file_is_graded_outside_any_course(tmp_path):
    file = tmp_path / "notes.py"
    file.write_text(RIGHT, "utf-8")
    done = run("check", "--file", str(file), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "All checks passed." in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.py"]


def test_a_wheel_has_the_course_where_the_grader_looks_for_it():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    included = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert included == {"assignments": BUNDLED.relative_to(BUNDLED.parents[1]).as_posix()}


FILL_BEYOND_FLOAT16 = """import torch
def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens.view(len(X), -1, 1)
        X = X.masked_fill(torch.arange(X.shape[-1]) >= lens, -1e9)
    return X.softmax(-1)
"""


@pytest.mark.parametrize(("counted", "status"), [("", 0), ('policies_that_count = ["precision"]\n', 1)])
def test_a_course_chooses_whether_a_policy_counts(course, counted, status):
    (course / "headway.toml").write_text(counted)
    (course / "02_masking" / "masking.py").write_text(FILL_BEYOND_FLOAT16)
    done = run("check", "masked_softmax", cwd=course)
    assert done.returncode == status
    assert ("advice, which costs no points" in done.stdout) == (status == 0)
    assert "fill value is out of range for float16" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            'policies_that_count = ["precison"]',
            "'precison' is not a policy; the policies are precision, odd-width,",
        ),
        ("policies_that_count = 3", "must be a list of policies; the policies are precision"),
        ('policies_that_count = ["odd"]', "must be a list of policies; 'odd' is not a policy"),
        ("policies_that_count = [[]]", "[] is not a policy"),
        ("policies_that_count =", "headway.toml cannot be read: "),
        ("a = " + "[" * 100_000, "headway.toml cannot be read: "),
    ],
)
def test_a_wrong_choice_of_policies_is_one_sentence(course, text, sentence):
    (course / "headway.toml").write_text(text)
    done = run("check", "masked_softmax", cwd=course)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("setting", "options", "named"),
    [("", (), True), ("", ("--no-line",), False), ("name_lines = false\n", (), False)],
)
def test_a_line_is_shown_unless_an_option_or_a_setting_forbids_it(course, setting, options, named):
    wrong = "def transpose_qkv(X, num_heads):\n    B, T, D = X.shape\n    X = X.reshape(B, T, num_heads, D // num_heads)\n"
    (course / "headway.toml").write_text(setting)
    (course / "04_heads" / "heads.py").write_text(
        wrong + "    return X.permute(2, 0, 1, 3).reshape(B * num_heads, T, -1)\n"
    )
    done = run("check", "transpose_qkv", *options, cwd=course)
    assert done.returncode == 1
    assert ("look at heads.py:4" in done.stdout) == named
    assert "failed" in done.stdout
    if named:
        assert done.stdout.index("failed") < done.stdout.index("look at")


def test_a_wrong_value_of_name_lines_is_refused(course):
    (course / "headway.toml").write_text("name_lines = 1\n")
    done = run("check", "transpose_qkv", cwd=course)
    assert done.returncode == 2
    assert "name_lines = 1: must be true or false" in done.stderr


def test_the_github_format_fails_only_for_started_exercises(course):
    untouched = run("check", "04", "--format", "github", cwd=course)
    assert untouched.returncode == 0
    assert "::" not in untouched.stdout
    (course / "04_heads" / "heads.py").write_text(RIGHT, "utf-8")
    assert run("check", "transpose_qkv", "--format", "github", cwd=course).returncode == 0
    unimported = RIGHT.replace("return ", "return math.isqrt(1) * ")
    (course / "04_heads" / "heads.py").write_text(unimported, "utf-8")
    passed = run("check", "transpose_qkv", "--format", "github", cwd=course)
    assert passed.returncode == 0
    assert "::notice::" in passed.stdout and "add `import math` at the top" in passed.stdout
    (course / "04_heads" / "heads.py").write_text(WRONG, "utf-8")
    failed = run("check", "transpose_qkv", "--format", "github", cwd=course)
    assert failed.returncode == 1
    assert "::error file=04_heads/heads.py" in failed.stdout


@pytest.mark.parametrize(
    ("line", "now", "says"),
    [
        ("return shape(X)", "return shpae(X)", "NameError"),
        ("return shape(X)", "return shape(X", "was never closed"),
        ("def transpose_qkv(X, num_heads):", "def transpose_qkv(X, num_heads)", "expected ':'"),
    ],
)
def test_an_annotation_for_github_is_at_the_line_of_the_error(course, line, now, says):
    answer = "def shape(X):\n    return X\n\n\ndef transpose_qkv(X, num_heads):\n    return shape(X)\n"
    (course / "04_heads" / "heads.py").write_text(answer.replace(line, now), "utf-8")
    at = 1 + [text.strip() for text in answer.splitlines()].index(line)
    done = run("check", "transpose_qkv", "--format", "github", cwd=course)
    (found,) = [text for text in done.stdout.splitlines() if text.startswith("::error")]
    assert found.startswith(f"::error file=04_heads/heads.py,line={at},title=transpose_qkv%3A "), found
    assert says in found
