"""The report in a terminal: narrow, without colour, with any text from a student's code."""

import io
from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.console import Console

from grader.report.model import CheckResult, Diagnosis, ExerciseResult, Report
from grader.report.terminal import render, show
from grader.support.sanitize import sanitize

TABLE = "\n".join("  ".join(f"{x:9.4f}" for x in range(6)) for _ in range(4))
HOSTILE = sanitize(
    "[/foo] [bold]not bold[/bold] [link=http://x]y[/link] :smile: \x1b[31m\u202e 注意" + "x" * 200
)


def check(outcome="failed", **more):
    return CheckResult(
        "c/values", more.pop("facet", "values"), more.pop("title", "weights of every query"), outcome, **more
    )


def result(name="masked_softmax", outcome="failed", score=1.0, points=2.5, **more):
    return ExerciseResult(
        name,
        "05_multi_head_attention",
        outcome,
        score,
        points,
        title="A title that says what the exercise is about",
        **more,
    )


FAILED = result(
    checks=(
        check("passed", facet="shapes"),
        check(
            message="7 of 30 values differ from the expected output",
            expected=TABLE,
            got=TABLE,
            where="batch 0, head 1, query 2, key 3",
        ),
        check("skipped", message="skipped: earlier checks failed"),
        check("skipped", message="skipped: earlier checks failed"),
    ),
    diagnosis=Diagnosis(
        "exact",
        (("a",),),
        "The mask is added after the softmax, so that rows do not sum to one any more.",
        "?",
    ),
    remarks=("graded multiheadAttention as MultiHeadAttention",),
)
ALL = (
    result("kernel_attention_weights", "passed", 10.25, 12.5),
    FAILED,
    result(
        "Seq2SeqAttentionDecoder",
        "could_not_grade",
        None,
        12.0,
        message="the worker did not start (died exit 1): it printed nothing",
    ),
    result(
        "TransparentSelfAttention",
        "blocked",
        0.0,
        message="answer.py, line 3: NameError: name 'torhc' is not defined",
    ),
    result("TangledSelfAttention", "not_started", 0.0),
    result("AddNorm", "other_interface", 0.0, message="this file builds it as `AddNorm(d)`"),
)


def printed(*results, width=80, every=False, full=False, colour=False, remarks=(), file=""):
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=colour,
        color_system="truecolor" if colour else None,
        legacy_windows=False,
    )
    show(
        Report(results, "basic", "2.13.0", "0.1.0", remarks=remarks, file=file),
        console,
        every=every,
        full=full,
    )
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 60, 40])
@pytest.mark.parametrize("full", [False, True])
def test_no_line_is_longer_than_the_terminal_is_wide(width, full):
    hostile = result(
        message=HOSTILE,
        checks=(check(message=HOSTILE, expected=HOSTILE, got=HOSTILE, where=HOSTILE),),
        remarks=(HOSTILE,),
    )
    for line in printed(*ALL, hostile, width=width, full=full, remarks=(HOSTILE,)).splitlines():
        assert cell_len(line) <= width, line


@pytest.mark.parametrize("width", [80, 60])
def test_every_exercise_has_its_outcome_and_its_points(width):
    text = printed(*ALL, width=width)
    lines = text.splitlines()
    for name, words, points in (
        ("kernel_attention_weights", "passed", "10.25 / 12.5"),
        ("masked_softmax", "failed", "1 / 2.5"),
        ("Seq2SeqAttentionDecoder", "could not be graded", "– / 12"),
        ("TransparentSelfAttention", "blocked", "0 / 2.5"),
        ("TangledSelfAttention", "not started", "0 / 2.5"),
    ):
        (line,) = [line for line in lines if line.strip().startswith(f"{name} ") and " / " in line]
        assert words.split()[0] in line
        assert all(word in text for word in words.split())
        assert points in line


def test_a_narrow_terminal_shows_every_outcome_and_its_points():
    text = " ".join(printed(*ALL, width=40).split())
    assert "kernel_attention_weights ✓ passed 10.25 / 12.5" in text
    assert "Seq2SeqAttentionDecoder ? could not be graded – / 12" in text


def test_the_first_failure_has_problem_where_expected_and_got():
    text = printed(*ALL)
    for words in (
        "7 of 30 values differ",
        "batch 0, head 1, query 2, key 3",
        "expected",
        "got",
        "3.0000",
        "known mistake",
        "The mask is added",
        "shapes ✓ 1   values ✗ 0/3",
        "graded multiheadAttention",
    ):
        assert words in text, words
    assert text.index("expected") < text.index("got  ")


def test_details_of_all_exercises_are_shown_only_if_requested():
    assert "torhc" not in printed(*ALL)
    assert "3 more exercises did not pass. Run `grader check NAME`" in " ".join(printed(*ALL).split())
    assert "torhc" in printed(*ALL, every=True)


def test_the_first_failure_of_the_course_is_shown_first():
    """Later exercises may fail because of it."""
    blocked = result("earlier", "blocked", message="it is blocked")
    text = printed(blocked, result("first", message="no name"), *ALL)
    assert "no name" in text
    assert "The mask is added" not in text
    assert "it is blocked" not in text


def test_a_file_named_with_file_gets_its_command_and_no_next_task():
    text = " ".join(printed(*ALL, file="my notes.py", width=200).split())
    assert "Run `grader check --file 'my notes.py' NAME` for details." in text
    assert "Next:" not in text


def test_remarks_on_passed_exercises_are_shown_for_a_named_file():
    passed = result("attention", "passed", checks=(), remarks=("built by position",))
    assert "note on attention: built by position" in printed(passed, passed, file="notes.py")
    assert "built by position" not in printed(passed, passed)


def test_an_error_of_the_grader_is_explained():
    assert "No points are deducted." in " ".join(printed(*ALL).split())


def test_a_report_without_colour_has_the_outcome_in_words():
    coloured = printed(*ALL, colour=True)
    assert "\x1b[" in coloured
    plain = io.StringIO()
    Console(file=plain, width=80, color_system=None).print(render(Report(ALL, "basic", "", "")))
    assert "\x1b[" not in plain.getvalue()
    assert "failed" in plain.getvalue()


@pytest.mark.parametrize("full", [False, True])
def test_markup_in_a_students_text_is_shown_as_text(full):
    text = printed(
        result(message=HOSTILE, checks=(check(message=HOSTILE, got=HOSTILE),), remarks=(HOSTILE,)),
        remarks=(HOSTILE,),
        full=full,
        width=400,
    )
    assert text.count("[/foo] [bold]not bold[/bold] [link=http://x]y[/link] :smile:") == 5
    assert "\x1b" not in text


def test_the_last_line_names_the_next_thing_to_do():
    def last(*results):
        return printed(*results).strip().splitlines()[-1]

    assert last(*ALL) == "Next: fix masked_softmax. Hint: `grader hint masked_softmax`."
    uses_another = replace(result("g"), fix_first=("f",))
    assert last(result("first"), uses_another) == "Next: fix first. Hint: `grader hint first`."
    assert last(uses_another, result("h")) == "Next: write or fix f and check again."
    assert last(result(outcome="passed"), result("g", "not_started", 0.0)) == "Next: implement g."
    assert last(result(outcome="passed")) == "All checks passed."


def test_a_long_lead_does_not_indent_the_other_rows():
    different = replace(FAILED, diagnosis=replace(FAILED.diagnosis, kind="different"))
    lines = printed(different).splitlines()
    (lead,) = [line for line in lines if line.startswith("a valid design")]
    assert "The mask is" in lead
    assert any(line.startswith("problem   7 of 30") for line in lines)


def test_a_remark_follows_the_overview():
    shown = printed(result("a", "passed"), result("b", "passed"), remarks=("both files were changed",))
    assert shown.index("05_multi_head_attention") < shown.index("both files were changed")
