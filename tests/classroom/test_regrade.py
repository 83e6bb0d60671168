"""`grader regrade` shows differences with their reasons, and publishes them only with `--write`."""

import csv
import io
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.files import fill
from helpers.school import ANSWER, WRONG, make_school, records_of, run

from grader.bundle.files import load_all
from grader.classroom.grade import unjudged_file
from grader.classroom.grade_folder import GradeOptions
from grader.classroom.regrade import Change, publish, regrade
from grader.classroom.store import Store, StoreKey
from grader.report.model import CheckResult, Diagnosis, ExerciseResult

KEY = StoreKey("cases", "grader", "strict")
CHECKS = tuple(CheckResult(id, "values", f"title {id}", "passed") for id in "ab")
PASSED = ExerciseResult("train", "11_capstone", "passed", 5.0, 5.0, checks=CHECKS, content="c")
FAILED = replace(
    PASSED,
    outcome="failed",
    score=2.0,
    checks=(CHECKS[0], replace(CHECKS[1], outcome="failed")),
    diagnosis=Diagnosis("exact", (("too-late",),), "it is late"),
)


def change(old, new, never_lower=False):
    return Change("ada", "ada.py", old, new, never_lower)


def test_a_change_says_by_how_much_and_why():
    found = change(FAILED, PASSED)
    assert found.differs
    assert (found.score, found.difference) == (5, 3)
    assert found.why == "values: title b: passed, was failed; known mistake: none, was too-late"
    assert found.sentence == f"train was graded again. Your 2 points became 5. {found.why}"
    assert found.published == replace(PASSED, remarks=(found.sentence,))
    # No noise of binary numbers.
    assert repr(change(replace(FAILED, score=0.1), replace(FAILED, score=0.3)).difference) == "0.2"


def test_never_lower_keeps_the_points_and_says_so():
    found = change(PASSED, FAILED, never_lower=True)
    assert (found.published.score, found.published.outcome, found.difference) == (5, "failed", 0)
    assert "You keep your 5 points; the new grading gives 2." in found.published.remarks[0]
    assert change(PASSED, FAILED).published.score == 2
    fewer = change(PASSED, replace(FAILED, points=4.0), never_lower=True)
    assert fewer.published.score == 4, "never more than the exercise is worth"
    assert "You keep your 4 points; the new grading gives 2." in fewer.sentence
    assert change(FAILED, PASSED, never_lower=True).published.score == 5


def test_an_exercise_that_could_not_be_graded_loses_no_points():
    found = change(PASSED, replace(FAILED, outcome="could_not_grade", score=None), never_lower=True)
    assert (found.differs, found.difference, found.published) == (True, 0, found.new)
    assert found.sentence.startswith("train could not be graded again.")


def test_new_points_new_checks_and_removed_checks_are_reasons():
    more = replace(PASSED, points=6.0, score=6.0, checks=(CHECKS[0], replace(CHECKS[1], id="c")))
    assert change(PASSED, more).why.split("; ") == [
        "it is worth 6 points, was 5",
        "new check: values: title b (passed)",
        "no longer checked: values: title b",
    ]


def test_other_advice_another_fingerprint_and_an_equal_result_are_no_change():
    advice = replace(CHECKS[0], id="p", policy="precision")
    old = replace(FAILED, fingerprint="a" * 16, diagnosis=Diagnosis("unknown"), checks=(*CHECKS, advice))
    new = replace(old, fingerprint="b" * 16, checks=(*CHECKS, replace(advice, outcome="advice")))
    for found in (change(old, new), change(FAILED, FAILED, never_lower=True), change(None, FAILED)):
        assert not found.differs
        assert found.why == ""
        assert found.published == found.new


def test_a_file_that_the_grader_failed_on_is_noted(tmp_path, monkeypatch):
    Store(tmp_path / "store", KEY).close()
    report = SimpleNamespace(exercises=(), extra={"content": "c"})
    entry = SimpleNamespace(report=report, grader_failed=True)
    monkeypatch.setattr("grader.classroom.regrade.grade_class", lambda *_a: [entry])
    options = GradeOptions(store=tmp_path / "store")
    assert regrade(tmp_path, SimpleNamespace(key=KEY), options, never_lower=False) == ([], True)


def test_the_result_of_a_file_that_was_not_judged_is_not_published(tmp_path, monkeypatch):
    """`grader grade` does not store such a result either, so that the next run grades the file again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    bundles = load_all(Path(__file__).parents[2] / "assignments")
    results = unjudged_file(bundles, ["transpose_qkv"], "c", 1, "why").results
    path = publish(
        tmp_path, SimpleNamespace(key=KEY), [change(None, result) for result in (*results, PASSED)]
    )
    with closing(Store(path, KEY)) as store:
        assert store.contents() == ["c"]
        assert store.get("c", ["train", "transpose_qkv"])[0] == {"train": PASSED}


# ---- a class


def scores(school: Path, folder: Path) -> dict[str, float]:
    records = records_of(run(school, "grade", folder, "--format", "jsonl"))
    return {record["student"]: record["score"] for record in records}


@pytest.mark.slow
def test_a_class_is_regraded_and_published_when_asked(tmp_path):
    """The weights of facets change, so a wrong answer gets other points. Only `--write` changes the store."""
    school = make_school(tmp_path)
    folder = fill(school / "class", {"ada.py": ANSWER, "bob.py": WRONG})
    missing = run(school, "regrade", folder, status=2)
    assert "no store of earlier results; grade the class first" in missing.stderr
    before = scores(school, folder)
    assert run(school, "regrade", folder, status=0).stdout == ""
    settings = school / "assignments" / "headway.toml"
    settings.write_text("[weights]\nshapes = 0\n", "utf-8")
    done = run(school, "regrade", folder, "--format", "csv", "--output", "changes.csv", status=1)
    (row,) = csv.DictReader(io.StringIO((school / "changes.csv").read_text("utf-8")))
    assert (row["student"], float(row["before"])) == ("bob", round(before["bob"], 2))
    assert float(row["now"]) < float(row["before"])
    assert "no longer checked: shapes" in row["why"]
    assert "Your" in row["sentence"]
    assert "nothing was published" in done.stderr
    published = run(school, "regrade", folder, "--never-lower", "--write", status=1)
    assert "bob" in published.stdout
    assert "2 results compared: 0 get more points, 0 fewer, 1 keep theirs; 0 have" in published.stderr
    assert "after every later change" in published.stderr
    assert scores(school, folder) == before
    shown = run(school, "grade", folder, "--format", "jsonl").stdout
    assert "You keep your" in shown
    assert not list((school / "cache").rglob("*.regrade.sqlite*"))
