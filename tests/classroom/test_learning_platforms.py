"""Marks for learning platforms: no zero for what the grader failed on, nothing lost, no formula in a cell.

`tests/report/snapshots/platforms.txt` has whole outputs.
"""

import csv
import io
import json
import re
from dataclasses import replace

import pytest
from helpers.samples import KNOWN, entry, failed, result

from grader.classroom.class_run import without_helpers
from grader.classroom.formats import FORMATS, written
from grader.classroom.roster import Person
from grader.intake.course import CourseFile, read_course_file
from grader.support.errors import GraderError

NOTHING = entry("bob", problem="nothing was submitted")
NOTHING.report.extra["submission"] = ""
GRADED = [
    entry("ada", result("sequence_mask", "passed", 3.0), replace(failed(KNOWN), name="other")),
    replace(NOTHING, person=Person("bob", {"id": "bob"})),
    entry("=cmd", result("sequence_mask", "could_not_grade", None, message="the sandbox is not there")),
]
HOLDS = "the folder eve holds no .py, no .ipynb and no archive; it holds homework.docx"


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


def test_a_course_names_its_column_and_may_give_zero(tmp_path):
    _head, _points, *blank = rows(FORMATS["canvas"](GRADED))
    assert [row[-1] for row in blank] == ["3.75", "", ""], "an import leaves what Canvas has for bob"
    settings = tmp_path / "headway.toml"
    settings.write_text('missing = "zero"\n[canvas]\n02_masking = "Masking (4711)"\n', "utf-8")
    head, _points, *zero = rows(written("canvas", GRADED, read_course_file(settings)))
    assert [row[-1] for row in (head, *zero)] == ["Masking (4711)", "3.75", "0", ""]


def test_a_file_that_the_grader_failed_on_gets_no_zero():
    lost = replace(entry("cyd", problem="the process that graded it ended"), grader_failed=True)
    helper = entry("ada", problem="util.py defines no exercise that is graded here")
    second_file = replace(entry("ada", problem="the process that graded it ended"), grader_failed=True)
    submissions = without_helpers([*GRADED, helper, second_file, lost])
    assert submissions == [*GRADED, second_file, lost]
    zero = CourseFile(missing="zero")
    assert written("canvas", submissions, zero).splitlines()[-1] == '"cyd",,,"cyd",,'
    assert FORMATS["moodle"](submissions).splitlines()[-1] == '"cyd",,,,,,"could not be graded"'


def test_a_file_that_cannot_be_read_becomes_a_remark():
    unreadable = entry("ada", problem="b.zip cannot be read as an archive")
    unreadable.report.extra["content"] = ""  # as of a file that was never read
    ada, *others = without_helpers([unreadable, *GRADED])
    assert ada.report.remarks == ("b.zip cannot be read as an archive",)
    assert others == GRADED[1:]


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
    marks = {row["username"]: row for row in csv.DictReader(FORMATS["moodle"](submissions).splitlines())}
    eve = marks["eve"]
    assert (eve["02_masking"], eve["04_heads"], eve["04_heads (feedback)"]) == ("3", "", HOLDS)


@pytest.mark.parametrize("form", sorted(FORMATS.keys() - {"text", "junit", "prairielearn"}))
def test_sums_of_points_have_no_binary_noise_in_any_format(form):
    parts = [result(name, "failed", score) for name, score in (("a", 0.1), ("b", 0.2), ("c", 12345.4))]
    shown = FORMATS[form]([entry("ada", *(replace(part, points=20000.1) for part in parts))])
    assert "12345.7" in shown
    assert not re.search(r"\d\.\d{7,}|12345\.6|e\+0", shown)


IN_PART = entry("ada", result("a", "passed", 3.0), result("b", "could_not_grade", None, message="no sandbox"))


@pytest.mark.parametrize("submission", [GRADED[1], IN_PART], ids=["nothing", "in part"])
def test_prairielearn_charges_no_attempt_for_an_ungraded_file(submission):
    record = json.loads(FORMATS["prairielearn"]([submission]))
    assert record["gradable"] is False
    assert "score" not in record


def test_prairielearn_is_for_one_submission():
    with pytest.raises(GraderError, match="prairielearn is for exactly one submission; there are 3"):
        FORMATS["prairielearn"](GRADED)


def test_a_student_with_two_files_has_one_row():
    parts = (result("sequence_mask", "passed", 3.0), replace(failed(KNOWN), name="b"))
    (row,) = FORMATS["canvas"]([entry("ada", part) for part in parts]).splitlines()[2:]
    assert row == '"ada",,,"ada",,"3.75"'
