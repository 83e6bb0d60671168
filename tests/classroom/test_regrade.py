"""`grader regrade` shows differences with their reasons, and publishes them only with `--write`."""

from __future__ import annotations

import csv
import io
import json
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers.files import fill
from helpers.school import ANSWER, WRONG, make_school, run
from helpers.targets import target

from grader.bundle.files import load_all
from grader.classroom.grade_folder import GradeOptions
from grader.classroom.grading_process import unjudged_file
from grader.classroom.regrade import Regraded, _change, _differs, _published, publish, regrade
from grader.classroom.store import Store, StoreKey
from grader.report.model import CheckResult, Diagnosis, ExerciseResult

OLD, NEW = (StoreKey(cases, "grader", "strict", b"secret") for cases in ("old", "new"))
CHECKS = tuple(CheckResult(id, "values", f"title {id}", "passed") for id in "ab")
PASSED = ExerciseResult("train", "11_capstone", "passed", 5.0, 5.0, checks=CHECKS, content="c")
FAILED = replace(
    PASSED,
    outcome="failed",
    score=2.0,
    checks=(CHECKS[0], replace(CHECKS[1], outcome="failed")),
    diagnosis=Diagnosis("exact", (("too-late",),), "it is late"),
)


class Entry:
    """The part of a graded submission that `_change` reads."""

    student, submission = "ada", "ada.py"


def change(old, new, never_lower=False):
    return _change(Entry(), old, new, never_lower)  # type: ignore[arg-type]


# ---- the store


def test_a_result_of_another_version_is_preferred(tmp_path):
    with closing(Store(tmp_path / "s", OLD)) as store:
        store.put([FAILED])
        assert store.earlier("c") == {"train": FAILED}, "the current version counts if there is no other"
    with closing(Store(tmp_path / "s", NEW)) as store:
        store.put([PASSED])
        assert store.earlier("c") == {"train": FAILED}
        assert store.earlier("other") == {}


def test_a_result_of_another_seed_and_a_forged_one_are_not_found(tmp_path):
    with closing(Store(tmp_path / "s", OLD)) as store:
        store.put([FAILED])
    with closing(Store(tmp_path / "s", replace(NEW, secret=b"other"))) as store:
        assert store.earlier("c") == {}
    with closing(Store(tmp_path / "s", NEW)) as store:
        assert store.earlier("c") == {"train": FAILED}
        ((stored,),) = store._database.execute("SELECT result FROM results").fetchall()
        forged = zlib.decompress(stored).replace(b'"score": 2.0', b'"score": 5.0')
        store._database.execute("UPDATE results SET result = ?", (zlib.compress(forged),))
        assert store.earlier("c") == {}


# ---- one change


def test_a_change_says_by_how_much_and_why():
    found = change(FAILED, PASSED)
    assert _differs(found)
    assert found.difference == 3
    assert found.why == ("values: title b: passed, was failed", "known mistake: none, was too-late")
    assert found.sentence.startswith(
        "train was graded again. Your 2 points became 5. values: title b: passed"
    )
    assert _published(found).remarks == (found.sentence,)


def test_a_difference_has_no_binary_noise():
    assert repr(change(replace(FAILED, score=0.1), replace(FAILED, score=0.3)).difference) == "0.2"


def test_never_lower_keeps_the_points_and_says_so():
    found = change(PASSED, FAILED, never_lower=True)
    assert (found.final.score, found.final.outcome, found.difference) == (5, "failed", 0)
    assert "You keep your 5 points; the new grading gives 2." in _published(found).remarks[0]
    assert change(PASSED, FAILED).final.score == 2
    fewer = change(PASSED, replace(FAILED, points=4.0), never_lower=True)
    assert fewer.final.score == 4, "never more than the exercise is worth"
    assert "You keep your 4 points; the new grading gives 2." in fewer.sentence
    assert change(FAILED, PASSED, never_lower=True).final.score == 5


def test_an_exercise_that_could_not_be_graded_loses_no_points():
    found = change(PASSED, replace(FAILED, outcome="could_not_grade", score=None))
    assert _differs(found)
    assert found.difference == 0
    assert found.sentence.startswith("train could not be graded again.")
    assert _published(found) == found.final


def test_a_file_that_the_grader_failed_on_counts_as_lost(tmp_path, monkeypatch):
    against = tmp_path / "store"
    Store(against, OLD).close()
    report = SimpleNamespace(exercises=(), extra={"content": "c"})
    entry = SimpleNamespace(report=report, grader_failed=True)
    monkeypatch.setattr("grader.classroom.regrade.grade_class", lambda *_a: [entry])
    done = regrade(tmp_path, SimpleNamespace(key=OLD), GradeOptions(store=against), never_lower=False)
    assert (done.lost, done.compared) == (1, 0)


def test_the_result_of_a_file_that_was_not_judged_is_not_published(tmp_path, monkeypatch):
    """`grader grade` does not store such a result either, so that the next run grades the file again."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    bundles = load_all(Path(__file__).parents[2] / "assignments")
    results = unjudged_file(bundles, ["transpose_qkv"], "c", 1, "why").results
    path = publish(
        tmp_path, SimpleNamespace(key=NEW), Regraded((), (*results, PASSED), compared=0, unknown=0, lost=0)
    )
    with closing(Store(path, NEW)) as store:
        assert store.count() == 1


def test_new_points_new_checks_and_removed_checks_are_reasons():
    more = replace(PASSED, points=6.0, score=6.0, checks=(CHECKS[0], replace(CHECKS[1], id="c")))
    assert change(PASSED, more).why == (
        "it is worth 6 points, was 5",
        "new check: values: title b (passed)",
        "no longer checked: values: title b",
    )


def test_other_advice_or_another_fingerprint_is_no_change():
    advice = replace(CHECKS[0], id="p", policy="precision")
    old = replace(FAILED, fingerprint="a" * 16, diagnosis=Diagnosis("unknown"), checks=(*CHECKS, advice))
    found = change(
        old, replace(old, fingerprint="b" * 16, checks=(*CHECKS, replace(advice, outcome="advice")))
    )
    assert not _differs(found)
    assert found.why == ()


def test_an_equal_result_is_no_change():
    found = change(FAILED, FAILED)
    assert not _differs(found)
    assert found.why == ()
    assert _published(found) == FAILED


# ---- a class


@pytest.fixture(scope="module")
def school(tmp_path_factory) -> Path:
    return make_school(tmp_path_factory.mktemp("school"))


def scores(school: Path, folder: Path) -> dict[str, float]:
    done = run(school, "grade", folder, "--format", "jsonl")
    return {record["student"]: record["score"] for record in map(json.loads, done.stdout.splitlines())}


@pytest.mark.slow
def test_a_class_is_regraded_and_published_when_asked(school):
    """The weights of facets change, so a wrong answer gets other points. Only `--write` changes the store."""
    folder = fill(school / "class", {"ada.py": ANSWER, "bob.py": WRONG})
    missing = run(school, "regrade", folder, status=2)
    assert "no store of earlier results; grade the class first" in missing.stderr
    before = scores(school, folder)
    assert run(school, "regrade", folder, status=0).stdout == ""
    settings = school / "assignments" / "headway.toml"
    settings.write_text("[weights]\nshapes = 0\n", "utf-8")
    done = run(school, "regrade", folder, "--format", "csv", status=1)
    with target(school / "there", "link") as (path, written):
        run(school, "regrade", folder, "--format", "csv", "--output", path, status=1)
        assert written().decode() == done.stdout.replace("\n", "\r\n")
    (row,) = csv.DictReader(io.StringIO(done.stdout))
    assert (row["student"], float(row["before"])) == ("bob", round(before["bob"], 2))
    assert float(row["now"]) < float(row["before"])
    assert "no longer checked: shapes" in row["why"]
    assert "Your" in row["sentence"]
    assert "nothing was published" in done.stderr
    published = run(school, "regrade", folder, "--never-lower", "--write", status=1)
    assert "1 keep theirs" in published.stderr
    assert "after every later change" in published.stderr
    assert scores(school, folder) == before
    shown = run(school, "grade", folder, "--format", "jsonl").stdout
    assert "You keep your" in shown
    assert not list((school / "cache").rglob("*.regrade.sqlite*"))
