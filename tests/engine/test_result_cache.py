"""The result of a long training is cached for unchanged files.

Other tests here: the progress bar of a training, and `--quick`.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest
from helpers.capstone import CAPSTONE, graded, part, solution
from helpers.minimal import submission_of
from msgspec import structs

from grader.engine.engine import Engine
from grader.engine.grade_exercise import NEWEST, grade_exercise, keep, read_cached
from grader.engine.grading import HIDDEN, PUBLIC, Grading, GradingOptions
from grader.engine.session import Training
from grader.engine.student_file import student_file
from grader.report.model import Advice, CheckResult, Diagnosis, ExerciseResult, from_text, to_text
from grader.student import progress, status_line
from grader.support.errors import BadData


@pytest.fixture
def caching(bundles, engine, tmp_path, monkeypatch) -> Iterator[Engine]:
    """Return an engine with a cache. It grades `train` with the shorter training only, marked as a long one."""
    monkeypatch.delenv("CI", raising=False)
    last = next(b for b in bundles if b.assignment == CAPSTONE)
    short = [structs.replace(c, costly=True) for c in last.exercise("train").cases if c.id == "reverse"]
    bare = structs.replace(last.exercise("train"), cases=tuple(short), signatures=None, level=0)
    only, options = structs.replace(last, exercises=(bare,)), GradingOptions(cache=tmp_path / "cache")
    with closing(Engine([only], engine.launcher, options)) as made:
        yield made


def is_cached(result: ExerciseResult) -> bool:
    return any("cached result" in remark for remark in result.remarks)


@pytest.mark.slow
def test_the_same_files_are_not_trained_twice_and_the_report_says_so(caching, monkeypatch):
    source = solution(CAPSTONE).source
    first = graded(caching, source)
    caching.context.workers.close()
    monkeypatch.setattr(caching.launcher, "start", None)  # no worker is needed
    again = graded(caching, source)
    assert first.outcome == again.outcome == "passed"
    assert (again.score, again.checks) == (first.score, first.checks)
    assert not is_cached(first)
    assert again.remarks[-1] == "cached result: the files have not changed since an earlier check"


WRONG = "def train(model, batches, steps): return None\n"


def test_other_files_and_damaged_results_are_graded_again(caching):
    assert graded(caching, WRONG).outcome == "failed"
    assert is_cached(graded(caching, WRONG)), "a failed result is cached too"
    assert not is_cached(graded(caching, WRONG + "\n# another text\n"))
    assert not is_cached(graded(caching, WRONG, part("08_decoder")))
    for path in caching.options.cache.iterdir():
        path.write_text('{"diagnosis": 3}', "utf-8")
    again = graded(caching, WRONG)
    assert (again.outcome, is_cached(again)) == ("failed", False)


@pytest.mark.parametrize("beside", ["1 / 0\n", "exit()\n"])
def test_a_fault_of_the_file_is_reported_again_in_the_next_check(caching, beside):
    source = WRONG + beside
    first, again = (caching.grade(submission_of(source), ["train"]) for _check in range(2))
    assert (first.faulty, first.remarks) == (again.faulty, again.remarks)
    assert first.faulty and first.remarks


RESULT = ExerciseResult(
    "train",
    CAPSTONE,
    "failed",
    1.25,
    5.0,
    checks=(CheckResult("reverse/values", "values", "reverse", "failed", expected=None),),
    diagnosis=Diagnosis("exact", (("one", "two"),)),
    advice=(Advice("precision", "says", "asks", "reason", mistakes=("one",)),),
)
SPOILT = {
    "score of text": lambda record: record.update(score="5"),
    "score above the points": lambda record: record.update(score=999.0),
    "seconds that are NaN": lambda record: record.update(seconds=float("nan")),
    "score that is a boolean": lambda record: record.update(score=True),
    "no score": lambda record: record.update(score=None),
    "unknown outcome": lambda record: record.update(outcome="splendid"),
    "outcome that is a list": lambda record: record.update(outcome=[]),
    "a missing field": lambda record: record.pop("name"),
    "checks": lambda record: record.update(checks={"id": 1}),
    "a check's message": lambda record: record["checks"][0].update(message=None),
    "a diagnosis": lambda record: record.update(diagnosis=None),
    "alternatives": lambda record: record["diagnosis"].update(alternatives=[3]),
}


def test_a_result_is_read_as_it_was_written():
    assert from_text(to_text(RESULT)) == RESULT


@pytest.mark.parametrize("spoil", SPOILT.values(), ids=SPOILT)
def test_an_impossible_stored_result_is_refused(spoil):
    record = json.loads(to_text(RESULT))
    spoil(record)
    with pytest.raises(BadData):
        from_text(json.dumps(record))


@pytest.mark.parametrize("text", ["", "[" * 200_000, "[]", "null", '{"diagnosis": 3}'])
def test_a_text_that_is_no_result_is_refused(text):
    with pytest.raises(BadData):
        from_text(text)


@pytest.mark.parametrize("grading", ["CI", "hidden"])
def test_the_cache_is_not_read_in_ci_or_for_hidden_cases(caching, monkeypatch, grading):
    graded(caching, WRONG)
    assert is_cached(graded(caching, WRONG))
    if grading == "CI":
        monkeypatch.setenv("CI", "true")
    again = caching.with_options(terms=HIDDEN if grading == "hidden" else PUBLIC)
    assert not is_cached(graded(again, WRONG))


def test_a_changed_block_or_language_is_graded_again(caching, monkeypatch):
    graded(caching, WRONG)
    for name, other in (
        ("grader.engine.grade_exercise.language", lambda: "xx"),
        ("grader.engine.grade_exercise.source", lambda name: ""),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(name, other)
            assert not is_cached(graded(caching, WRONG)), name
        assert is_cached(graded(caching, WRONG))


def test_the_newest_results_of_an_exercise_stay_cached(caching):
    other = caching.options.cache / "other-1.json"
    other.parent.mkdir()
    other.write_text("{}", "utf-8")
    for n in range(NEWEST + 1):
        keep(caching.context, f"{n}", caching.exercises["train"], RESULT)
    names = {path.name.partition("-")[0] for path in other.parent.iterdir()}
    assert names == {"train", "other"}
    assert len(list(other.parent.iterdir())) == NEWEST + 1
    assert read_cached(caching.context, "0", caching.exercises["train"]) is None
    assert read_cached(caching.context, f"{NEWEST}", caching.exercises["train"]) is not None


@pytest.mark.parametrize("lost", ["no worker", "a worker before", "a worker now"])
def test_a_result_is_not_cached_if_a_part_lost_its_worker(caching, bundles, monkeypatch, lost):
    """`train` uses parts, which are exercises of an earlier file. A part loses its worker during `train`, or before."""
    caching.exercises.update(
        {e.name: e for b in bundles for e in b.exercises if b.assignment == "08_decoder"}
    )
    exercise = caching.exercises["train"]
    failed = ExerciseResult("train", CAPSTONE, "failed", 0.0, exercise.points)

    def attempt(grading, _file, asked, replaced=()):
        grading.lost += asked.name == "DecoderBlock" and lost != "no worker"
        return replace(failed, name=asked.name)

    monkeypatch.setattr("grader.engine.grade_exercise.attempt", attempt)
    monkeypatch.setattr("grader.engine.grade_exercise._may_be_the_blocks", lambda *_: True)
    submission = submission_of(WRONG, "capstone.py")
    grading = Grading(caching.context)
    file = student_file(caching.context.course, submission, [part("08_decoder")])
    if lost == "a worker before":
        ((_name, earlier), *_more) = grading.blocks(file, exercise)
        grade_exercise(grading, earlier, caching.exercises["DecoderBlock"])
    grade_exercise(grading, file, exercise)
    assert grading.lost == (lost != "no worker")
    assert len(list(caching.options.cache.glob("train-*"))) == (lost == "no worker")


def test_a_quick_check_says_so_and_is_neither_saved_nor_cached(caching, tmp_path):
    result = graded(caching.with_options(quick=True), solution(CAPSTONE).source)
    assert result.partial
    assert any("--quick" in remark for remark in result.remarks)
    progress.save(tmp_path, [replace(result, outcome="passed")])
    assert progress.load(tmp_path) == {}
    assert not list(caching.options.cache.glob("*"))


@pytest.mark.parametrize(
    ("training", "shown"),
    [
        (Training(0, 300, None), f"t {'─' * 24} 0/300"),
        (Training(150, 300, 0.51234), f"t {'━' * 12}{'─' * 12} 150/300 loss 0.512"),
        (Training(300, 300, 1e5), f"t {'━' * 24} 300/300 loss 100000.000"),
        (Training(0, 0, 0.0), f"t {'─' * 24} 0/0 loss 0.000"),
    ],
)
def test_a_progress_bar_shows_the_steps_and_the_loss(training, shown):
    assert status_line.training_bar("t", training) == shown
