"""If the grader raises an exception for a submission twice, and none for a simple test file, the submission fails.

If a judge raises an exception over an answer, and none over the right one, the check fails. Else no points are lost.
"""

from pathlib import Path

import pytest
from helpers.command_line import ROOT
from helpers.grading_here import graded_here
from helpers.minimal import submission_of

import grader.engine.engine as engine_module
import grader.student.check as check_module
from grader.classroom import grade as class_module
from grader.classroom.grade import RunConfig, Task
from grader.classroom.store import StoreKey
from grader.engine import draft, student_file
from grader.engine.grading import HIDDEN, PUBLIC
from grader.intake.names import read_names
from grader.judge import verdict
from grader.judge.verdict import right_answer
from grader.student.check import check

SPOILT = "import torch\ndef sequence_mask(X, valid_len, value=0):\n    return X * 2\n"
ATTACK = "# attack\n"


def fails_over(monkeypatch, is_hit) -> list[str]:
    """Let the grader raise while it makes the result of a submission for which `is_hit` is true.

    Return a list that gets a file name for every exception.
    """
    raised = []
    uses = draft.uses

    def raises(given, *rest):
        if is_hit(given):
            raised.append(given.path.name)
            raise RecursionError("SECRET")
        return uses(given, *rest)

    monkeypatch.setattr(draft, "uses", raises)
    return raised


@pytest.mark.parametrize("terms", [PUBLIC, HIDDEN], ids=["public", "hidden"])
def test_an_exception_for_this_submission_alone_fails_it(engine, monkeypatch, terms):
    raised = fails_over(monkeypatch, lambda given: ATTACK in given.units[0].source)
    report = engine.with_options(terms=terms).grade(submission_of(SPOILT + ATTACK), ["sequence_mask"])
    (found,) = report.exercises
    assert (found.outcome, found.score) == ("failed", 0.0)
    assert found.checks[0].message == "the result could not be checked"
    (remark,) = found.remarks
    assert remark.startswith("for the instructor: the grader raised RecursionError (test_unjudged.py, line ")
    assert "SECRET" not in repr(found)
    assert len(raised) == 2, "the exercise was not tried again"
    assert report.points == found.points


def test_an_exception_for_a_plain_file_too_could_not_be_graded(engine, monkeypatch):
    fails_over(monkeypatch, lambda given: True)
    (found,) = engine.grade(submission_of(SPOILT), ["sequence_mask"]).exercises
    assert (found.outcome, found.score) == ("could_not_grade", None)


def test_an_exception_that_happens_once_costs_nothing(engine, monkeypatch):
    once = iter([True])
    fails_over(monkeypatch, lambda given: next(once, False))
    (found,) = engine.grade(submission_of(SPOILT), ["sequence_mask"]).exercises
    assert found.outcome == "failed"
    assert not found.remarks


# Ways to grade SPOILT: each returns the results of the exercises.


def by_check(engine, folder):
    file = folder / "masking.py"
    file.write_text(SPOILT, "utf-8")
    return check(
        ["sequence_mask"], engine.launcher, file=file, course=ROOT / "assignments", quiet=True
    ).exercises


def by_grade(engine, folder):
    key = StoreKey("cases", "grader", "strict")
    config = RunConfig(ROOT / "assignments", folder / "store", key, only=("sequence_mask",))
    task = Task(0, Path("masking.py"), SPOILT.encode, ("sequence_mask",))
    return graded_here(engine.with_options(terms=HIDDEN), config, task).results


def names_fail(monkeypatch, is_hit) -> None:
    """Let the grader raise while it reads the names of a submission for which `is_hit` is true."""

    def raises(given):
        if is_hit(given):
            raise RecursionError("SECRET")
        return read_names(given)

    for module in (engine_module, student_file, check_module, class_module):
        monkeypatch.setattr(module, "read_names", raises)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("graded_by", "plain_too", "outcome"),
    [
        (by_check, False, "failed"),
        (by_grade, False, "failed"),
        (by_check, True, "could_not_grade"),
    ],
)
def test_names_that_raise_for_this_submission_alone_fail_it(
    engine, tmp_path, monkeypatch, graded_by, plain_too, outcome
):
    def is_hit(given):
        return "X * 2" in given.units[0].source or (plain_too and given.path.name == "plain.py")

    names_fail(monkeypatch, is_hit)
    (found,) = graded_by(engine, tmp_path)
    assert (found.name, found.outcome) == ("sequence_mask", outcome)
    assert not found.score
    assert "SECRET" not in repr(found)


# ---- a judge that raises


def raises_over(monkeypatch, right_too: bool) -> None:
    """Let the judge of values raise over every answer but the expected one; with `right_too`, also over that one."""
    real = verdict.JUDGES["equal"]

    def raises(check, case, observation):
        name = check.of[0]
        if not right_too and observation.seen[name].array is case.expected[name]:
            return real(check, case, observation)
        raise OverflowError("SECRET")

    monkeypatch.setitem(verdict.JUDGES, "equal", raises)


@pytest.mark.parametrize("terms", [PUBLIC, HIDDEN], ids=["public", "hidden"])
def test_a_judge_that_raises_fails_its_checks_with_a_remark(engine, monkeypatch, terms):
    raises_over(monkeypatch, right_too=False)
    (found,) = engine.with_options(terms=terms).grade(submission_of(SPOILT), ["sequence_mask"]).exercises
    assert (found.outcome, found.name) == ("failed", "sequence_mask")
    assert found.score < found.points
    assert "the result could not be checked" in [c.message for c in found.checks]
    assert any(
        remark.startswith("for the instructor: the grader raised an exception") for remark in found.remarks
    )
    assert "SECRET" not in repr(found)


def test_a_judge_that_raises_for_right_answers_too_costs_no_points(engine, monkeypatch):
    raises_over(monkeypatch, right_too=True)
    (found,) = engine.grade(submission_of(SPOILT), ["sequence_mask"]).exercises
    assert (found.outcome, found.score) == ("could_not_grade", None)
    assert "SECRET" not in repr(found)


def test_every_judge_judges_the_right_answer_without_an_exception(engine):
    """If a judge also raises for the right answer, the exercise could not be graded and costs no points."""
    cases = [case for exercise in engine.exercises.values() for case in exercise.cases]
    assert sum(len(case.checks) for case in cases) > 100
    for case in cases:
        for asked in case.checks:
            finding = verdict.decide(asked, case, right_answer(case))
            # "odd": the result is no tensor.
            assert finding.kind != "odd", "the judge does not reach its comparison"
