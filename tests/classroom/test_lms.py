"""The formats for Canvas, Moodle and PrairieLearn have the columns and fields that these systems document."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace

import pytest
from helpers.browser.samples import CLASS, KNOWN, entry, failed, result

from grader.classroom.class_run import without_helpers
from grader.classroom.formats import FORMATS, NotInThisFormat, written
from grader.classroom.roster import Person
from grader.intake.course_file import CourseFile, read_course_file

ADA = Person(
    "ada",
    {
        "id": "ada",
        "first_name": "Ada",
        "last_name": "Lovelace",
        "email": "ada@x.org",
        "section": "A",
        "canvas_id": "17",
        "sis_user_id": "S1",
        "idnumber": "4711",
    },
)
NOTHING = entry("bob", problem="nothing was submitted")
NOTHING.report.extra["submission"] = ""
GRADED = [
    replace(
        entry("ada", result("sequence_mask", "passed", 3.0), replace(failed(KNOWN), name="other")), person=ADA
    ),
    replace(NOTHING, person=Person("bob", {"id": "bob"})),
    entry("=cmd", result("sequence_mask", "could_not_grade", None, message="the sandbox is not there")),
]


def rows(form: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(FORMATS[form](GRADED), newline="")))


def test_canvas_has_its_five_columns_and_the_points_possible():
    head, points, ada, bob, hostile = rows("canvas")
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "02_masking"]
    assert points == ["    Points Possible", "", "", "", "", "6"]
    assert ada == ["Lovelace, Ada", "17", "S1", "ada@x.org", "A", "3.75"]
    assert bob == ["bob", "", "", "bob", "", ""], "an import leaves what Canvas has for who submitted nothing"
    assert hostile == ["'=cmd", "", "", "'=cmd", "", ""], "no zero if the grader failed"


def test_a_course_names_its_column_and_may_give_zero(tmp_path):
    (tmp_path / "headway.toml").write_text(
        'missing = "zero"\n[canvas]\n02_masking = "Masking (4711)"\n', "utf-8"
    )
    settings = read_course_file(tmp_path / "headway.toml")
    head, _points, _ada, bob, hostile = csv.reader(
        io.StringIO(written("canvas", GRADED, settings), newline="")
    )
    assert (head[-1], bob[-1], hostile[-1]) == ("Masking (4711)", "0", "")


def test_a_file_that_the_grader_failed_on_gets_no_zero():
    lost = replace(entry("cyd", problem="the process that graded it ended"), grader_failed=True)
    helper = entry("ada", problem="util.py defines no exercise that is graded here")
    second_file = replace(entry("ada", problem="the process that graded it ended"), grader_failed=True)
    submissions = without_helpers([*GRADED, helper, second_file, lost])
    assert submissions == [*GRADED, second_file, lost]
    assert FORMATS["canvas"](submissions).splitlines()[-1] == '"cyd",,,"cyd",,'
    assert FORMATS["moodle"](submissions).splitlines()[-1] == '"cyd",,,,,,"could not be graded"'


def test_a_file_that_cannot_be_read_becomes_a_remark():
    unreadable = entry("ada", problem="b.zip cannot be read as an archive")
    unreadable.report.extra["content"] = ""  # as of a file that was never read
    ada, *others = without_helpers([unreadable, *GRADED])
    assert ada.report.remarks == ("b.zip cannot be read as an archive",)
    assert others == GRADED[1:]


HOLDS = "the folder eve holds no .py, no .ipynb and no archive; it holds homework.docx"


@pytest.mark.parametrize("form", ["text", "html", "jsonl", "csv", "canvas", "moodle", "junit"])
@pytest.mark.parametrize("listed", [True, False])
def test_a_folder_without_a_gradable_file_is_in_every_output(form, listed):
    eve = entry("eve", problem=HOLDS)
    eve = replace(eve, report=replace(eve.report, remarks=(HOLDS,)))
    eve = replace(eve, person=Person("eve", {"id": "eve"}) if listed else None)
    shown = written(form, [*GRADED, eve], CourseFile(missing="zero"))
    assert "eve" in shown
    if form != "canvas":
        assert HOLDS in " ".join(shown.split())
    if form in ("csv", "canvas"):
        *_others, row = csv.DictReader(io.StringIO(shown))
        assert [row[name] for name in ("score", "points", "02_masking") if name in row] in ([""], ["", ""])


def test_an_ungraded_folder_is_no_remark_on_another_assignment():
    heads = entry("eve", problem=HOLDS)
    heads.report.extra.update(submission="eve/04_heads", content="")
    other = replace(result("transpose_qkv", "passed", 3.0), assignment="04_heads")
    graded = [entry("eve", result("sequence_mask", "passed", 3.0)), entry("ada", other)]
    submissions = without_helpers([*graded, heads])
    assert submissions == [*graded, heads]
    (eve,) = (
        row for row in csv.DictReader(FORMATS["moodle"](submissions).splitlines()) if row["username"] == "eve"
    )
    assert (eve["02_masking"], eve["04_heads"], eve["04_heads (feedback)"]) == ("3", "", HOLDS)


def test_moodle_has_an_identity_a_grade_and_feedback():
    head, ada, bob, hostile = rows("moodle")
    identity = ["username", "ID number", "Email address", "First name", "Last name"]
    assert head == [*identity, "02_masking", "02_masking (feedback)"]
    assert ada[:6] == ["ada", "4711", "ada@x.org", "Ada", "Lovelace", "3.75"]
    assert "sequence_mask: passed" in ada[6]
    assert "other: failed. known mistake: one step too many is kept in every row" in ada[6]
    assert bob[5:] == ["", "nothing was submitted"]
    assert hostile[5] == ""


@pytest.mark.parametrize("form", sorted(FORMATS.keys() - {"text", "junit", "prairielearn"}))
def test_sums_of_points_have_no_binary_noise_in_any_format(form):
    parts = [result(name, "failed", score) for name, score in (("a", 0.1), ("b", 0.2), ("c", 12345.4))]
    shown = FORMATS[form]([entry("ada", *(replace(part, points=20000.1) for part in parts))])
    assert "12345.7" in shown
    assert not re.search(r"\d\.\d{7,}|12345\.6|e\+0", shown)


def test_prairielearn_gets_a_score_up_to_1_and_a_test_per_exercise():
    record = json.loads(FORMATS["prairielearn"](GRADED[:1]))
    assert record["gradable"] is True
    assert record["score"] == pytest.approx(3.75 / 6)
    assert [(t["name"], t["points"], t["max_points"]) for t in record["tests"]] == [
        ("02_masking sequence_mask", 3, 3),
        ("02_masking other", 0.75, 3),
    ]
    assert all({"message", "output"} <= set(test) for test in record["tests"])


@pytest.mark.parametrize("submission", GRADED[1:], ids=["nothing", "could not be graded"])
def test_prairielearn_charges_no_attempt_for_an_ungraded_file(submission):
    record = json.loads(FORMATS["prairielearn"]([submission]))
    assert record["gradable"] is False
    assert "score" not in record


def test_prairielearn_is_for_one_submission():
    with pytest.raises(
        NotInThisFormat, match="the format prairielearn is for exactly one submission; there are 3"
    ):
        FORMATS["prairielearn"](GRADED)


def test_a_student_with_two_files_has_one_row():
    twice = [
        entry("ada", result("sequence_mask", "passed", 3.0)),
        entry("ada", replace(failed(KNOWN), name="b")),
    ]
    lines = FORMATS["canvas"]([*twice, *CLASS[1:]]).splitlines()
    assert [line for line in lines if line.startswith('"ada"')] == ['"ada",,,"ada",,"3.75"']
