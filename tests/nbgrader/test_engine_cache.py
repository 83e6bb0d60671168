"""The engine behind the preprocessors: what `grader grade` has kept is not graded again."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from helpers.nbgrader_class.school import QKV
from traitlets.config import Config

from grader.classroom.store import Store
from grader.intake.read import Submission, Unit
from grader.nbgrader import engine_cache
from grader.nbgrader.settings import Headway
from grader.report.model import ExerciseResult

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def settings(school, monkeypatch) -> Headway:
    recorded = next(folder.parent for folder in (school.root / "cache").glob("headway/hidden/*/complete"))
    monkeypatch.setattr(engine_cache, "hidden_folder", lambda solutions: recorded)
    seed = school.root / "home" / ".config" / "headway" / "seed"
    chosen = {"solutions": str(school.root / "solutions"), "seed_file": str(seed)}
    return Headway(config=Config(Headway=chosen))


@pytest.fixture
def grader(settings):
    yield engine_cache.course_grader(settings)
    engine_cache.close()


def test_one_grader_serves_all_notebooks(settings, grader):
    assert engine_cache.course_grader(settings) is grader


def test_answers_come_from_the_store_first(grader, tmp_path):
    submission = Submission(Path("04_heads.ipynb"), (Unit("04_heads.ipynb cell 1", QKV),))
    path = tmp_path / "grades.sqlite"
    store = Store(path, grader.key)
    store.put([ExerciseResult("transpose_qkv", "04_heads", "failed", 2.25, 3.0, content=submission.content)])
    store.close()
    report = grader.grade(submission, ["transpose_qkv", "transpose_output"], path, print)
    assert [(r.name, r.score) for r in report.exercises] == [
        ("transpose_qkv", 2.25),
        ("transpose_output", 0.0),
    ]
    assert report.seed == "hidden"
    path.write_bytes(b"not a database, and longer than its header would have to be" * 4)
    assert grader.grade(submission, ["transpose_qkv"], path, print).exercises[0].outcome == "passed"


def test_stored_results_need_no_worker_and_damaged_rows_do(grader, tmp_path):
    submission = Submission(Path("04_heads.ipynb"), (Unit("04_heads.ipynb cell 1", QKV),))
    path = tmp_path / "grades.sqlite"
    store = Store(path, grader.key)
    store.put([ExerciseResult("transpose_qkv", "04_heads", "failed", 2.25, 3.0, content=submission.content)])
    store.close()
    assert grader.grade(submission, ["transpose_qkv"], path, print).exercises[0].score == 2.25
    assert grader.engine.launcher._launcher is None
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE results SET result = '{'")
    assert grader.grade(submission, ["transpose_qkv"], path, print).exercises[0].outcome == "passed"
    assert grader.engine.launcher._launcher is not None


def test_an_exception_over_one_submission_fails_it_with_a_remark(grader, tmp_path, monkeypatch):
    submission = Submission(Path("04_heads.ipynb"), (Unit("04_heads.ipynb cell 1", QKV),))
    real = grader.engine.grade

    def raising(given, *rest):
        if given is submission:
            raise RecursionError
        return real(given, *rest)

    monkeypatch.setattr(grader.engine, "grade", raising)
    remarks: list[str] = []
    report = grader.grade(submission, ["transpose_qkv"], tmp_path / "none", remarks.append)
    assert [(r.outcome, r.score) for r in report.exercises] == [("failed", 0.0)]
    assert "RecursionError" in remarks[0]

    def broken(*_given):
        raise RecursionError

    monkeypatch.setattr(grader.engine, "grade", broken)
    with pytest.raises(RecursionError):
        grader.grade(submission, ["transpose_qkv"], tmp_path / "none", remarks.append)


def test_a_new_grader_is_made_when_its_sources_change(school, settings, grader):
    os.utime(school.root / "solutions" / "04_heads" / "exercise.toml", (1, 1))
    changed = engine_cache.course_grader(settings)
    assert changed is not grader
    settings.trusted_submissions = True
    assert engine_cache.course_grader(settings) is not changed


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"sandbox": "basic"}, "trusted_submissions"),
        ({"solutions": "/nowhere"}, "c.Headway.solutions names /nowhere"),
    ],
)
def test_refusals_are_sentences(settings, wrong, says):
    for name, value in wrong.items():
        setattr(settings, name, value)
    with pytest.raises(engine_cache.Refused, match=says):
        engine_cache.course_grader(settings)
