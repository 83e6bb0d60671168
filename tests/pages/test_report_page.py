"""The report as a page, as a browser reads it: what is shown, in which order, and what is folded."""

from dataclasses import replace
from datetime import date

import msgspec
import pytest
from helpers.html_reader import HtmlReader
from helpers.pictures import MASKING, failing
from helpers.samples import FAILED, KNOWN, PASSED, UNKNOWN, result

from grader.report.html import fragment, page
from grader.report.model import Code, Diagnosis, ExerciseResult, Line, Report
from grader.report.picture import Panel

SOURCE = ("def f(X):", "    a = 1", "    b = 2", "    c = 3", "    return a", *["    # more"] * 9)
CODE = Code("masking.py", 40, SOURCE, marked=(42,))
MISTAKE = failing("masking", "a padded key of `X` gets weight", "12 values differ", "query 3", MASKING)
RAISED = replace(FAILED, rule="exception", message="raised KeyError", where="masking.py, line 43: c = 3")


def report(*results: ExerciseResult, **more: object) -> Report:
    return Report(results, sandbox="strict", torch="2.13.0", grader="0.1.0", **more)  # type: ignore[arg-type]


def read(*results: ExerciseResult, **more: object) -> HtmlReader:
    return HtmlReader(page(report(*results, **more)))


def in_order(text: str, *parts: str) -> None:
    """Assert that the text has these parts, one after the other."""
    at = 0
    for part in parts:
        assert part in text[at:], part
        at = text.index(part, at) + len(part)


def test_the_assignment_the_student_and_the_date_come_first():
    extra = {"student": "ada", "submission": "ada/masking.py"}
    reader = read(MISTAKE, extra=extra)
    assert reader.within("h1") == "02_masking"
    in_order(reader.within("main"), "02_masking", "ada", "ada/masking.py", date.today().isoformat(), "failed")


def test_what_failed_comes_first_and_what_passed_is_folded():
    passed = replace(result("transpose_qkv", "passed", 3.0, checks=(PASSED,)), title="Splits the heads")
    unwritten = result("transpose_output", "not_started", 0.0)
    blocked = result("Encoder", "blocked", 0.0, message="blocked by AddNorm")
    for show in (page, fragment):
        reader = HtmlReader(show(report(passed, unwritten, blocked, MISTAKE)))
        in_order(reader.text, "4.25 / 14 points", "1 of 4", "masked_softmax", "Encoder", "transpose_qkv")
        assert "transpose_qkv" in reader.within("summary")
        assert "masked_softmax" not in reader.within("summary")
        assert PASSED.title in reader.within("details")
        assert "open" not in reader.attributes


@pytest.mark.parametrize("show", [page, fragment])
def test_the_mistake_comes_first_then_the_line_then_the_values_then_the_checks(show):
    noted = replace(MISTAKE, code=CODE, remarks=("a remark", "another"))
    reader = HtmlReader(show(report(noted)))
    in_order(
        reader.text,
        *("failed", "masked_softmax", "1.25 / 5 points"),
        *("known mistake:", "masking.py:42", "expected", "got"),
        *("2 of 4 checks passed", "a remark · another", "sandbox"),
    )
    folded = reader.within("details", "hw-rows")
    in_order(folded, "the result, with one length", "the result, without lengths", "1 more check skipped")


def test_a_named_mistake_is_said_once_and_an_exception_always():
    assert "12 values differ" not in read(MISTAKE).text
    assert "12 values differ" in read(replace(MISTAKE, diagnosis=UNKNOWN)).within("hw-says")
    raised = replace(MISTAKE, diagnosis=KNOWN, checks=(RAISED,))
    assert "raised KeyError" in read(raised).within("hw-says")


LOOK = Line("masking.py", 44, "return a", "repaired", "another name", (7, 8))


@pytest.mark.parametrize(
    ("lines", "check", "marked"),
    [
        ((LOOK, replace(LOOK, line=41)), replace(RAISED, file="masking.py", line=43), "44 return a"),
        ((), replace(RAISED, file="masking.py", line=43), "43 c = 3"),
        ((), FAILED, "42 b = 2"),
        ((replace(LOOK, line=7, text="elsewhere()"),), FAILED, "7 elsewhere()"),
    ],
    ids=["found", "raised", "named", "outside"],
)
@pytest.mark.parametrize("show", [page, fragment])
def test_one_line_is_marked(show, lines, check, marked):
    """The line that was found, else that of the exception, else the first that the report names."""
    shown = replace(MISTAKE, code=CODE, checks=(check,), diagnosis=replace(KNOWN, lines=lines))
    reader = HtmlReader(show(report(shown)))
    text = "".join(
        piece for piece, around in reader.pieces if "hw-marked" in around and "details" not in around
    )
    assert " ".join(text.split()) == f"▶ {marked}"


def test_what_a_change_touches_is_underlined():
    shown = replace(MISTAKE, code=CODE, diagnosis=replace(KNOWN, lines=(LOOK,)))
    assert HtmlReader(fragment(report(shown))).within("u") == "a"
    assert "another name" in read(shown).within("hw-place")


def test_the_line_of_an_exception_is_named_besides_a_likelier_one():
    check = replace(RAISED, file="masking.py", line=43)
    reader = read(replace(MISTAKE, code=CODE, checks=(check,), diagnosis=replace(KNOWN, lines=(LOOK,))))
    in_order(reader.within("hw-place"), "masking.py:44", "masking.py, line 43: c = 3")
    assert "line 43" not in read(replace(MISTAKE, code=CODE, checks=(check,), diagnosis=UNKNOWN)).within(
        "hw-place"
    )


def test_the_place_in_a_tensor_is_named_unless_a_grid_marks_it():
    assert FAILED.where in read(result("f", "failed", 1.0, checks=(FAILED,))).within("hw-case")
    assert "query 3" not in read(MISTAKE).within("hw-case")


def test_what_was_built_and_what_comes_next_is_said_before_the_checks():
    passed = result("masked_softmax", "passed", 3.0, checks=(PASSED,))
    outlook = ("You have `f`.", "Next: g.")
    in_order(
        read(passed, outlook=outlook).text, "3 / 3 points", *("You have f.", "Next: g."), "1 of 1 checks"
    )
    in_order(read(passed, passed, outlook=outlook).text, "6 / 6 points", "You have f.", "3 / 3 points")


def test_the_neighbours_of_the_line_are_shown_and_the_rest_is_folded():
    shown = replace(MISTAKE, code=CODE)
    reader = read(shown)
    assert "53 # more" in reader.within("details", "hw-code")
    assert reader.within("details", "hw-marked") == "▶ 42 b = 2"
    open_text = "".join(text for text, around in reader.pieces if "details" not in around)
    assert "b = 2" in open_text
    assert "53" not in open_text
    assert "def f(X)" not in fragment(report(shown)), "a notebook has the code in a cell"


def test_names_are_code_and_no_backtick_is_printed():
    says = "`W_q` and `keys` are exchanged, `"
    shown = replace(MISTAKE, diagnosis=Diagnosis("exact", (("m",),), says), remarks=("see `forward`",))
    reader = read(shown)
    assert "`" not in reader.text
    for name in ("W_q", "keys", "forward", "masked_softmax"):
        assert (name, True) in [(text, "code" in around) for text, around in reader.pieces], name


def test_the_panels_of_a_picture_line_up():
    """Cells of both panels are equally wide, and have room for the mark."""
    (_expected, got), one = MASKING.form.panels, replace(MASKING.form.panels[0].rows[0][0], text="1")
    narrow = Panel("expected", tuple((one,) * 4 for _row in got.rows))
    form = msgspec.structs.replace(MASKING.form, panels=(narrow, got))
    text = page(report(replace(MISTAKE, picture=replace(MASKING, form=form))))
    reader = HtmlReader(text)
    cells = [
        piece
        for piece, around in reader.pieces
        if "td" in around and "hw-grid" in around and piece.strip("✗\n")
    ]
    assert len(cells) == 16
    assert len({len(cell) for cell in cells}) == 1
    assert text.count('<span class="hw-mark">') == 16 + 8


def test_a_report_over_several_assignments_has_the_points_of_each():
    other = replace(MISTAKE, assignment="08_decoder", name="DecoderBlock")
    ungraded = replace(result("AddNorm", "could_not_grade", None), assignment="08_decoder")
    reader = read(MISTAKE, other, ungraded)
    assert reader.within("h1") == "02_masking, 08_decoder"
    assert reader.within("hw-parts") == "02_masking 1.25 / 5 08_decoder 1.25 / 5"
    many = [replace(MISTAKE, assignment=f"0{n}") for n in range(5)]
    assert read(*many).within("h1") == "00 to 04"
