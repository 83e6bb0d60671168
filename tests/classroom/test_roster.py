"""The class list, the choice between two submissions of a student, and equal files."""

import csv
import io
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.files import fill
from helpers.samples import UNKNOWN, entry, failed, result

from grader.classroom.class_run import one_of_each
from grader.classroom.discover import discover
from grader.classroom.formats import table, text
from grader.classroom.grade_folder import _with_roster
from grader.classroom.pages import page
from grader.classroom.roster import MAX_BYTES, MAX_ROWS, read_roster
from grader.classroom.summary import Summary
from grader.intake.own_code import own_tree
from grader.intake.read import submission_from
from grader.support.errors import UsageError

LIST = "id,first_name,last_name,email,section\nada,Ada,Lovelace,ada@x.org,A\nbob,Bob,Noyce,,B\ncyd,Cyd,Charisse,,A\n"


def roster(tmp_path: Path, data: str | bytes = LIST):
    path = tmp_path / "students.csv"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_roster(path)


def submission(student: str, path: str, outcome: str, score: float | None, modified: float):
    graded = entry(student, result("sequence_mask", outcome, score))
    report = replace(graded.report, extra={**graded.report.extra, "submission": path})
    return replace(graded, report=report, modified=modified)


# ---- the list


@pytest.mark.parametrize(
    "data", [LIST, "\ufeff" + LIST.replace(",", ";"), LIST.replace("\n", "\r\n"), LIST + ",,,,\n"]
)
def test_a_list_is_read_as_spreadsheets_write_it(tmp_path, data):
    found = roster(tmp_path, data)
    assert list(found) == ["ada", "bob", "cyd"]
    assert (found["ada"].name, found["ada"].email, found["ada"].section) == ("Ada Lovelace", "ada@x.org", "A")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("", "names no column id; it has –"),
        ("name,mail\nada,x\n", "names no column id; it has name, mail"),
        ("id\nada\nada\n", "the id ada is on two lines"),
        ("id,x\n,1\n", "a line has no id"),
        (b"id\n\xff\n", "it is not UTF-8"),
        (b"id\n" + b"x" * MAX_BYTES, "larger than 4 MiB"),
        ("id\n" + "".join(f"s{n}\n" for n in range(MAX_ROWS)), "more than 20000 lines"),
        ("id\n" + "x" * 200_000, "field larger than"),
    ],
)
def test_a_bad_list_is_reported_in_one_sentence(tmp_path, data, sentence):
    with pytest.raises(UsageError) as refused:
        roster(tmp_path, data)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_in_decomposed_unicode_is_the_same_student(tmp_path, form):
    fill(tmp_path / "class", {unicodedata.normalize("NFD", "zoë/a.py"): "x = 1", "rené.py": "x = 1"})
    found = discover(tmp_path / "class", [])
    listed = roster(tmp_path, unicodedata.normalize(form, "id\nzoë\nrené\n"))
    assert {file.student for file in found} == set(listed) == {"zoë", "rené"}


def test_students_without_a_submission_are_listed(tmp_path):
    entries = _with_roster([entry("ada", failed(UNKNOWN)), entry("zoe", failed(UNKNOWN))], roster(tmp_path))
    rows = {row["student"]: row for row in csv.DictReader(io.StringIO(table(entries)))}
    assert [rows[who]["remark"] for who in ("bob", "cyd")] == ["nothing was submitted"] * 2
    assert (rows["ada"]["name"], rows["ada"]["section"]) == ("Ada Lovelace", "A")
    shown = text(entries)
    assert "bob: nothing was submitted" in shown
    assert "zoe is not in the list of students" in shown
    assert "2 submissions by 2 students" in shown
    assert "A: 1 of 2 submitted something; mean points 0.38" in shown
    assert "nothing was submitted" in page(entries)
    entries = _with_roster([entry(who, failed(UNKNOWN)) for who in ("ada", "bob", "cyd")], roster(tmp_path))
    assert Summary(entries).addresses(["ada", "bob", "cyd"]) == ["A: ada@x.org, cyd", "B: bob"], "by section"
    assert Summary([entry("ada"), entry("bob")]).addresses(["bob", "ada"]) == ["ada, bob"]


# ---- two submissions


@pytest.mark.parametrize(("keep", "expected"), [("newest", "new.py"), ("best", "good.py")])
def test_one_submission_counts_and_a_remark_names_the_other(keep, expected):
    entries = [
        submission("ada", "good.py", "passed", 3.0, 1),
        submission("ada", "new.py", "failed", 1.0, 2),
    ]
    (counted,) = one_of_each(entries, keep)
    (other,) = {"good.py", "new.py"} - {expected}
    assert counted.submission == expected
    assert counted.report.remarks == (
        f"of several submissions of sequence_mask the {keep} counts; not counted: {other}",
    )


@pytest.mark.parametrize(
    ("keep", "first", "second", "counted"),
    [  # outcome, score and time of two submissions
        ("newest", ("failed", 1.0, 1), ("not_started", 0.0, 2), "a"),
        ("best", ("failed", 0.0, 1), ("blocked", 0.0, 2), "a"),
        ("newest", ("passed", 3.0, 5), ("failed", 1.0, 5), "a"),
        ("best", ("could_not_grade", None, 1), ("failed", 1.0, 2), "a"),
        ("best", ("could_not_grade", None, 1), ("passed", 3.0, 2), "b"),
    ],
)
def test_only_an_answer_replaces_an_answer(keep, first, second, counted):
    """At the same time the better one counts. One that was not graded counts unless the other is right."""
    entries = [submission("ada", "a", *first), submission("ada", "b", *second)]
    assert [entry.submission for entry in one_of_each(entries, keep)] == [counted]
    other = entry(
        "ada", result("masked_softmax", "passed", 3.0)
    )  # of another exercise, and of another student:
    entries = [submission("ada", "a", *first), submission("bob", "a", *second), other]
    assert one_of_each(entries, keep) == entries


# ---- equal files

STUB = "def f(x):\n    raise NotImplementedError\n\n\ndef given(x):\n    y = x\n    z = y\n    return z\n"
ANSWER = "def f(x):\n    y = x + 1\n    z = y * 2\n    return z\n"


def tree(source: str) -> str:
    """Return a hash of the definitions that are not in the stub; "" if these are too short to compare."""
    return own_tree(submission_from(Path("a.py"), source.encode()), (STUB,))


def test_the_hash_is_of_the_students_own_code_alone():
    released = STUB.partition("\n\n\n")[2]  # the function `given`
    assert tree(ANSWER)
    assert tree(ANSWER) == tree("# mine\n" + ANSWER.replace("x + 1", "x  +  1") + released)
    assert tree(ANSWER) != tree(ANSWER.replace("x + 1", "x + 2"))
    assert tree(STUB) == ""
    assert tree("def f(x):\n    return x\n") == "", "it is too short"


def test_equal_files_are_listed_with_their_students():
    entries = [
        replace(entry(who, failed(UNKNOWN, "same")), tree="t" if who != "cyd" else "")
        for who in ("ada", "bob", "cyd")
    ]
    (alike,) = Summary(entries).alike
    assert (alike.who, alike.unnamed) == (("ada", "bob"), ("sequence_mask",))
    for shown in (page(entries), text(entries)):
        assert "alk to these students" in shown  # "Talk" on the page, "talk" in the terminal
        assert "also the same wrong answer without a name in sequence_mask" in " ".join(shown.split())
