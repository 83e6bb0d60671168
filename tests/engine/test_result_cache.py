"""What takes long is remembered, told while it runs, stopped where it does not end, and left out when that is asked."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.capstone import CAPSTONE, graded, part, solution

from grader.engine.engine import Engine
from grader.engine.grade_exercise import grade_exercise
from grader.engine.grading_options import GradingOptions
from grader.engine.result_cache import NEWEST, ResultCache
from grader.engine.session import Training
from grader.engine.submission_run import SubmissionRun
from grader.intake.names import read_names
from grader.intake.read import Submission, Unit
from grader.report.model import CheckResult, ExerciseResult
from grader.student import progress, status_line


class _Counting:
    def __init__(self, launcher):
        self.launcher, self.tier, self.count = launcher, launcher.tier, 0

    def start(self, limits):
        self.count += 1
        return self.launcher.start(limits)


@pytest.fixture
def keeping(bundles, engine, tmp_path, monkeypatch) -> Iterator[Engine]:
    """Only the shorter training, as if it took long."""
    monkeypatch.delenv("CI", raising=False)
    last = next(b for b in bundles if b.assignment == CAPSTONE)
    short = [replace(c, costly=True) for c in last.exercise("train").cases if c.id == "reverse"]
    bare = replace(last.exercise("train"), cases=tuple(short), signatures=None, level=0)
    only = replace(last, exercises=(bare,))
    options = GradingOptions(cache=ResultCache(tmp_path / "kept"))
    made = Engine([only], _Counting(engine.launcher), options)
    yield made
    made.close()


def test_the_same_files_are_not_trained_twice_and_the_report_says_so(keeping):
    source = solution(CAPSTONE).source
    first = graded(keeping, source)
    started = keeping.launcher.count
    again = graded(keeping, source)
    assert keeping.launcher.count == started, "no worker was needed"
    assert first.outcome == again.outcome == "passed"
    assert (again.score, again.checks) == (first.score, first.checks)
    assert not any("cached" in remark for remark in first.remarks)
    assert again.remarks[-1] == "cached result: the files have not changed since an earlier check"


def test_other_files_other_parts_and_spoilt_memories_are_graded_anew(keeping):
    source = "def train(model, batches, steps): return None\n"
    assert graded(keeping, source).outcome == "failed"
    started = keeping.launcher.count
    graded(keeping, source)
    assert keeping.launcher.count == started, "what failed is remembered too"
    graded(keeping, source + "\n# another text\n")
    assert keeping.launcher.count > started
    started = keeping.launcher.count
    graded(keeping, source, part("08_decoder"))
    assert keeping.launcher.count > started
    for path in keeping.options.cache.folder.iterdir():
        path.write_text('{"diagnosis": 3}', "utf-8")
    started = keeping.launcher.count
    assert graded(keeping, source).outcome == "failed"
    assert keeping.launcher.count > started


WRONG = "def train(model, batches, steps): return None\n"


def check(kept: dict[str, Any]) -> dict[str, Any]:
    return kept["checks"][0]


SPOILT = {
    "score of text": lambda kept: kept.update(score="5"),
    "score above the points": lambda kept: kept.update(score=999.0),
    "score below nothing": lambda kept: kept.update(score=-1.0),
    "score that is no number": lambda kept: kept.update(score=float("nan")),
    "score that is a truth": lambda kept: kept.update(score=True),
    "other points": lambda kept: kept.update(points=4.0),
    "no points": lambda kept: kept.update(points=None),
    "odd outcome": lambda kept: kept.update(outcome="splendid"),
    "outcome of a list": lambda kept: kept.update(outcome=[]),
    "outcome that is not kept": lambda kept: kept.update(outcome="blocked"),
    "another exercise": lambda kept: kept.update(name="greedy_decode"),
    "another assignment": lambda kept: kept.update(assignment="10_pruning"),
    "figures": lambda kept: kept.update(figures={"importance": {"planted": "no"}}),
    "figures of a list": lambda kept: kept.update(figures=[]),
    "a quick one": lambda kept: kept.update(partial=True),
    "remarks": lambda kept: kept.update(remarks=[1]),
    "a field less": lambda kept: kept.pop("message"),
    "a field more": lambda kept: kept.update(bonus=1),
    "checks": lambda kept: kept.update(checks={"id": 1}),
    "a check's outcome": lambda kept: check(kept).update(outcome="fine"),
    "a check's message": lambda kept: check(kept).update(message=None),
    "a diagnosis": lambda kept: kept.update(diagnosis=None),
    "alternatives": lambda kept: kept["diagnosis"].update(alternatives=[3]),
}


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_nothing_is_believed_that_could_not_have_been_kept(keeping, kept_file, spoil):
    words = json.loads(kept_file.read_text("utf-8"))
    exercise = keeping.exercises["train"]
    name = kept_file.stem.removeprefix("train-")
    assert keeping.options.cache.get(name, exercise) is not None
    spoil(words)
    kept_file.write_text(json.dumps(words), "utf-8")
    assert keeping.options.cache.get(name, exercise) is None


@pytest.mark.parametrize("text", ["", "[" * 200_000, "[]", "3", "null", '{"diagnosis": 3}', "\ud800"])
def test_what_is_no_result_is_forgotten(keeping, kept_file, text):
    kept_file.write_text(text, "utf-8", "surrogatepass")
    name = kept_file.stem.removeprefix("train-")
    assert keeping.options.cache.get(name, keeping.exercises["train"]) is None


@pytest.fixture
def kept_file(keeping) -> Path:
    """What is kept of a wrong answer, made without a worker."""
    exercise = keeping.exercises["train"]
    checks = (CheckResult("reverse/values", "values", "reverse", "failed"),)
    result = ExerciseResult("train", CAPSTONE, "failed", 1.25, exercise.points, checks=checks)
    keeping.options.cache.put("word", exercise, result)
    (path,) = keeping.options.cache.folder.iterdir()
    return path


@pytest.mark.parametrize("grading", ["CI", "hidden"])
def test_where_a_grade_is_given_nothing_kept_is_read(keeping, monkeypatch, grading):
    graded(keeping, WRONG)
    assert is_kept(graded(keeping, WRONG))
    if grading == "CI":
        monkeypatch.setenv("CI", "true")
    again = keeping.with_options(hidden=grading == "hidden")
    assert not is_kept(graded(again, WRONG))


def is_kept(result: ExerciseResult) -> bool:
    return any("cached result" in remark for remark in result.remarks)


def test_other_blocks_and_another_language_are_graded_anew(keeping, monkeypatch):
    graded(keeping, WRONG)
    for name, other in (
        ("grader.engine.when_to_cache.language", lambda: "xx"),
        ("grader.engine.result_cache.source", lambda name: ""),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(name, other)
            assert not is_kept(graded(keeping, WRONG)), name
        assert is_kept(graded(keeping, WRONG))


def test_the_newest_results_of_an_exercise_are_kept(keeping, kept_file):
    exercise = keeping.exercises["train"]
    result = keeping.options.cache.get("word", exercise)
    os.utime(kept_file, (1, 1))
    (other := keeping.options.cache.folder / "other-1.json").write_text("{}", "utf-8")
    os.utime(other, (1, 1))
    for n in range(NEWEST):
        keeping.options.cache.put(f"{n}", exercise, result)
    names = {path.name for path in keeping.options.cache.folder.iterdir()}
    assert names == {"other-1.json", *(f"train-{n}.json" for n in range(NEWEST))}


def test_what_may_be_chance_in_a_part_is_not_kept(keeping, bundles, monkeypatch):
    """A worker lost over a part of an earlier file, now or before, makes the training's result unsteady."""
    parts = (part("08_decoder"),)
    keeping.exercises |= {e.name: e for b in bundles for e in b.exercises if b.assignment == "08_decoder"}
    exercise = keeping.exercises["train"]
    failed = ExerciseResult("train", CAPSTONE, "failed", 0.0, exercise.points)

    def grade_once(run, asked, replaced=()):
        if asked.name in lossy:
            run.history.lost += 1
        return replace(failed, name=asked.name)

    monkeypatch.setattr("grader.engine.grade_exercise.grade_once", grade_once)
    monkeypatch.setattr("grader.engine.grade_exercise._by_parts", lambda *_: True)
    for lossy, before, kept in (((), False, 1), (("DecoderBlock",), False, 0), (("DecoderBlock",), True, 0)):
        submission = Submission(Path("capstone.py"), (Unit("capstone.py", WRONG),))
        run = SubmissionRun(keeping.context, submission, read_names(submission), parts)
        if before:
            ((_name, earlier), *_more) = run.blocks(exercise)
            grade_exercise(earlier, keeping.exercises["DecoderBlock"])
        grade_exercise(run, exercise)
        assert run.lost == len(lossy)
        files = list(keeping.options.cache.folder.glob("train-*"))
        assert len(files) == kept
        for path in files:
            path.unlink()


def test_an_endless_training_is_reported_with_its_line(keeping, monkeypatch):
    monkeypatch.setattr("grader.engine.load_request.SHORT_SECONDS", 4.0)
    (case,) = keeping.exercises["train"].cases
    keeping.exercises["train"] = replace(keeping.exercises["train"], cases=(replace(case, costly=False),))
    result = graded(keeping, "def train(model, batches, steps):\n    while True:\n        steps += 1\n")
    said, where = next((c.message, c.where) for c in result.checks if c.outcome == "failed")
    assert said == "stopped after 4 seconds; is there a loop that never ends?"
    assert re.fullmatch(r"capstone.py, line [23]", where)


def test_a_quick_check_says_so_and_is_no_verdict(keeping, tmp_path):
    result = graded(keeping.with_options(quick=True), solution(CAPSTONE).source)
    assert result.partial
    assert any("--quick" in remark for remark in result.remarks)
    progress.save(tmp_path, [replace(result, outcome="passed")])
    assert progress.load(tmp_path) == {}
    assert not any("cached" in remark for remark in graded(keeping, "def train(*a): return None").remarks)


@pytest.mark.parametrize(
    ("training", "shown"),
    [
        (Training(0, 300, None), f"t {'─' * 24} 0/300"),
        (Training(150, 300, 0.51234), f"t {'━' * 12}{'─' * 12} 150/300 loss 0.512"),
        (Training(300, 300, 1e5), f"t {'━' * 24} 300/300 loss 100000.000"),
        (Training(0, 0, 0.0), f"t {'─' * 24} 0/0 loss 0.000"),
    ],
)
def test_a_bar_shows_how_far_a_training_is(training, shown):
    assert status_line.training_bar("t", training) == shown
