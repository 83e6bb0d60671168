"""The engine behind the preprocessors: what `grader grade` has kept is not graded again."""

from __future__ import annotations

from pathlib import Path

import pytest
from traitlets.config import Config

from grader.grading.store import Store
from grader.intake.read import Submission, Unit
from grader.nbgrader import desk as desks
from grader.nbgrader.settings import Headway
from grader.report.model import ExerciseResult

from .conftest import QKV

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture
def settings(school, monkeypatch) -> Headway:
    recorded = next(folder.parent for folder in (school.root / "cache").glob("headway/hidden/*/complete"))
    monkeypatch.setattr(desks, "hidden_folder", lambda solutions: recorded)
    seed = school.root / "home" / ".config" / "headway" / "seed"
    chosen = {"solutions": str(school.root / "solutions"), "seed_file": str(seed)}
    return Headway(config=Config(Headway=chosen))


@pytest.fixture
def desk(settings):
    yield desks.desk(settings)
    desks.close()


def test_one_desk_serves_all_notebooks(settings, desk):
    assert desks.desk(settings) is desk


def test_answers_come_from_the_store_first(desk, tmp_path):
    submission = Submission(Path("04_heads.ipynb"), (Unit("04_heads.ipynb cell 1", QKV),))
    path = tmp_path / "grades.sqlite"
    store = Store(path, desk.under)
    store.keep([ExerciseResult("transpose_qkv", "04_heads", "failed", 2.25, 3.0, content=submission.content)])
    store.close()
    report = desk.grade(submission, ["transpose_qkv", "transpose_output"], path)
    assert [(r.name, r.score) for r in report.exercises] == [
        ("transpose_qkv", 2.25),
        ("transpose_output", 0.0),
    ]
    assert report.seed == "hidden"
    path.write_bytes(b"not a database, and longer than its header would have to be" * 4)
    assert desk.grade(submission, ["transpose_qkv"], path).exercises[0].outcome == "passed"


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
    with pytest.raises(desks.Refused, match=says):
        desks.desk(settings)
