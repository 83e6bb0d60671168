"""`grader new` writes files that pass `grader verify`, in a new assignment and at the end of an existing one."""

import shutil
import subprocess
import sys

import pytest
from helpers.command_line import ROOT, run_process
from helpers.mistake_pages import prints_what_the_page_says

from grader.authoring.bank import apply
from grader.authoring.content import read
from grader.authoring.scaffold import scaffold
from grader.support.code import stub
from grader.support.errors import UsageError

pytestmark = pytest.mark.slow

HERE = {"HEADWAY_COURSE": "."}


def test_a_new_function_and_class_pass_verify_and_ruff(tmp_path):
    (tmp_path / "solutions").mkdir()
    for name in ("less_mean", "WithoutMean"):
        done = run_process("new", "12_normalising", name, cwd=tmp_path, **HERE)
        assert done.returncode == 0, done.stderr
        assert "next: grader verify 12_normalising" in done.stdout
    names = {path.name for path in (tmp_path / "solutions/12_normalising").iterdir()}
    assert names == {"cases.py", "exercise.toml", "mistakes", "normalising.py", "variants.py"}
    done = run_process("verify", "12_normalising", cwd=tmp_path, **HERE)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("4/4") == 4  # mistakes of both exercises: caught, named
    assert done.stdout.count("3/3") == 2  # variants that pass
    assert done.stdout.count("2/2") == 2  # trivial answers, refused
    for command in (["check"], ["format", "--check"]):
        options = ["--no-cache", "--config", ROOT / "pyproject.toml", "solutions"]
        assert not subprocess.run([sys.executable, "-m", "ruff", *command, *options], cwd=tmp_path).returncode


def test_an_exercise_is_appended_to_an_assignment(tmp_path):
    before = read(shutil.copytree(ROOT / "solutions/04_heads", tmp_path / "04_heads"))
    mistakes, variants = len(before.mistakes()), len(before.variants())
    scaffold(tmp_path, "04_heads", "less_mean")
    after = read(tmp_path / "04_heads")
    assert after.source.startswith(before.source.rstrip())
    assert [e.name for e in after.exercises] == [*(e.name for e in before.exercises), "less_mean"]
    assert len(after.mistakes()) == mistakes + 4
    assert len(after.variants()) == variants + 5  # 3 that pass, 2 trivial ones
    assert [c.id for c in after.cases("less_mean", "public")] == ["small", "other"]
    assert "less_mean is not written yet" in stub(after.source)
    for answer in (*after.mistakes("less_mean"), *after.variants("less_mean")):
        assert apply(answer, after.source) != after.source


@pytest.mark.parametrize("name", ["less_mean", "WithoutMean"])
def test_examples_of_scaffolded_pages_show_the_mistake(tmp_path, name):
    scaffold(tmp_path, "12_normalising", name)
    assignment = read(tmp_path / "12_normalising")
    for mistake in assignment.mistakes(name):
        assert all(prints_what_the_page_says(mistake.page, assignment.source)), mistake.id
        assert not any(prints_what_the_page_says(mistake.page, apply(mistake, assignment.source))), mistake.id


@pytest.mark.parametrize(
    ("assignment", "exercise", "sentence"),
    [
        ("04_heads", "transpose_qkv", "04_heads already has an exercise transpose_qkv"),
        ("12_other", "TransposeQkv", "04_heads already has an exercise transpose_qkv"),
        ("heads", "less_mean", "'heads' is not a valid name for an assignment"),
        ("12_other", "less mean", "'less mean' is not a valid name for an exercise"),
        ("12_other", "class", "'class' is not a valid name for an exercise"),
    ],
)
def test_a_name_that_cannot_be_used_is_refused_and_nothing_written(tmp_path, assignment, exercise, sentence):
    shutil.copytree(ROOT / "solutions/04_heads", tmp_path / "04_heads")
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    with pytest.raises(UsageError, match=sentence):
        scaffold(tmp_path, assignment, exercise)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_new_needs_the_folder_solutions(tmp_path):
    done = run_process("new", "12_normalising", "less_mean", cwd=tmp_path)
    assert done.returncode == 2
    assert "for instructors" in done.stderr
