"""`grader questions`: one right option, computed by the student's file, with numbers from a seed."""

import os
import pty
import re
import subprocess

import pytest
import torch
from helpers.command_line import GRADER, ROOT, run

from grader.authoring.bank import apply
from grader.authoring.content import read_all
from grader.student import progress
from grader.student.questions import CALLS, OUTPUTS, ZEROS, questions
from grader.student.writer import load_module

LESSONS = [
    one for one in read_all(ROOT / "solutions") if not CALLS.keys().isdisjoint(e.name for e in one.exercises)
]
SEEDS = [f"seed {n}" for n in range(5)]


def asked(lesson, source, seed, tmp_path):
    file = tmp_path / f"{lesson.module}.py"
    file.write_text(source, "utf-8")
    return questions([e.name for e in lesson.exercises], vars(load_module(file, [])), seed)


def computed(text, lesson, tmp_path):
    """Return the right option of a question: what its code says when it is typed, or what its lengths say."""
    says, *lines = text.replace("\n\n", "\n").splitlines()
    names = {**vars(load_module(tmp_path / f"{lesson.module}.py", [])), "torch": torch}
    for line in lines[:-1]:
        exec(line.strip(), names)
    if "How many" in says:
        total, t, b, _from = map(int, re.findall(r"\d+", says))
        if "self" in says and "state" in names:
            return str(total - t - 1)  # later steps
        lens = names["state"][1] if "state" in names else names["valid_lens"]
        return str(total - int(lens[b] if lens.dim() == 1 else lens[b, t]))
    out = eval(lines[-1].strip(), names)
    out = out[0] if isinstance(out, tuple) else out
    if "shape" in says:
        return str(tuple(out.shape))
    return re.sub(
        r"-?\d+\.\d+", lambda n: f"{float(n[0]) + 0:.2f}", str((out * 100).round().div(100).add(0).tolist())
    )


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_one_option_is_right_and_a_seed_decides(lesson, tmp_path):
    found = {seed: asked(lesson, lesson.source, seed, tmp_path) for seed in SEEDS}
    for several in found.values():
        assert len(several) == 3
        for one in several:
            assert len(set(one.options)) == len(one.options) in (3, 4)
            assert one.options[one.right] == computed(one.text, lesson, tmp_path)
    assert found[SEEDS[0]] == asked(lesson, lesson.source, SEEDS[0], tmp_path)
    assert len({str(several) for several in found.values()}) == len(SEEDS)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_every_right_answer_has_the_same_right_option(lesson, tmp_path):
    """The reference and a variant agree on what is right, so no wrong option is right. No `d2l` is installed."""
    expected = {seed: asked(lesson, lesson.source, seed, tmp_path) for seed in SEEDS}
    variants = [one for one in lesson.variants() if one.kind == "same" and one.of in CALLS]
    for variant in variants:
        source = apply(variant, lesson.source)
        if "d2l" in variant.code:
            continue
        for seed in SEEDS:
            for mine, reference in zip(asked(lesson, source, seed, tmp_path), expected[seed], strict=False):
                if mine.text == reference.text:
                    right = mine.options[mine.right], reference.options[reference.right]
                    assert right[0] == right[1], (variant.id, seed, mine.text)


def test_code_that_changes_its_arguments_gets_the_same_questions(tmp_path):
    lesson = next(one for one in LESSONS if one.name.startswith("02"))
    in_place = lesson.source.replace("X.masked_fill(~keep, value)", "X.masked_fill_(~keep, value)")
    assert in_place != lesson.source
    for seed in SEEDS:
        assert asked(lesson, in_place, seed, tmp_path) == asked(lesson, lesson.source, seed, tmp_path)


def test_no_hidden_number_is_in_a_question(tmp_path):
    """Questions draw their own numbers: none is a fraction that a case has."""
    for lesson in LESSONS:
        hidden = set()
        for exercise in lesson.exercises:
            for case in lesson.cases(exercise.name, "hidden"):
                for tensor in case.tensors.values():
                    hidden |= {round(n, 4) for n in tensor.astype(float).ravel().tolist()}
        fractions = {n for n in hidden if n != round(n, 1)}
        for seed in SEEDS:
            for one in asked(lesson, lesson.source, seed, tmp_path):
                shown = {float(n) for n in re.findall(r"-?\d+\.\d+", one.text)}
                assert shown.isdisjoint(fractions), one.text


@pytest.fixture
def passed(course):
    lesson = next(one for one in LESSONS if one.name.startswith("04"))
    (course / lesson.name / f"{lesson.module}.py").write_text(lesson.source, "utf-8")
    assert run("check", lesson.name, cwd=course).returncode == 0
    return course


def test_questions_are_printed_and_every_student_has_a_seed(passed):
    first, again = (run("questions", "04", cwd=passed) for _time in range(2))
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == again.stdout
    assert [f"\n{n}. " in f"\n{first.stdout}" for n in (1, 2, 3, 4)] == [True, True, True, False]
    (passed / progress.SEED).unlink()
    assert run("questions", "04", cwd=passed).stdout != first.stdout
    anna, bert = (run("questions", "04", "--seed", name, cwd=passed).stdout for name in ("anna", "bert"))
    assert anna != bert
    assert anna == run("questions", "04", "--seed", "anna", "--plain", cwd=passed).stdout


@pytest.mark.parametrize(("is_right", "status"), [(True, 0), (False, 1)])
def test_answers_are_typed(passed, tmp_path, is_right, status):
    lesson = next(one for one in LESSONS if one.name.startswith("04"))
    several = asked(lesson, lesson.source, f"anna {lesson.name}", tmp_path)
    typed = ["abcd"[one.right if is_right else one.right - 1 if one.right else 1] for one in several]
    ours, theirs = pty.openpty()
    command = [GRADER, "questions", "04", "--seed", "anna"]
    with subprocess.Popen(command, cwd=passed, stdin=theirs, stdout=theirs, stderr=theirs) as child:
        os.close(theirs)
        os.write(ours, ("\n".join(typed) + "\n").encode())
        shown = b""
        try:
            while part := os.read(ours, 4096):
                shown += part
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    assert child.returncode == status
    assert shown.count(b"Right.") == (3 if is_right else 0)
    assert shown.count(b"Your code returns") == (0 if is_right else 3)


def test_what_cannot_be_asked_is_said_in_a_sentence(passed):
    early = run("questions", "05", cwd=passed)
    assert early.returncode == 1
    assert "Still to do: MultiHeadAttention" in early.stdout
    for lesson, says in (("99", "there is no assignment 99"), ("09", "09_seq2seq has no such questions")):
        done = run("questions", lesson, cwd=passed)
        assert (done.returncode, done.stdout) == (2, "")
        assert says in done.stderr
    heads = passed / "04_heads" / "heads.py"
    heads.write_text(heads.read_text("utf-8").replace("num_heads: int", "num_heads: int, own: int"), "utf-8")
    done = run("questions", "04", cwd=passed)
    assert done.returncode == 2
    assert "heads.py is not called as in the lesson" in done.stderr


def test_the_tables_know_only_exercises():
    known = {exercise.name for lesson in LESSONS for exercise in lesson.exercises}
    assert {*CALLS, *OUTPUTS, *(row[0] for row in ZEROS)} <= known
    assert {*OUTPUTS, *(row[0] for row in ZEROS)} <= CALLS.keys()
