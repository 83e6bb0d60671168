"""The class page, as a browser reads it: the date, what is folded, and names as code."""

from dataclasses import replace
from datetime import date

from helpers.html_reader import HtmlReader
from helpers.samples import CLASS, FAILED, KNOWN, PASSED, entry, failed, result

from grader.classroom.pages import page

PASSES = result("masked_softmax", "passed", 3.0, checks=(PASSED,))


def test_the_assignment_and_the_date_come_first_and_the_sandbox_last():
    reader = HtmlReader(page(CLASS))
    text = " ".join(reader.within("main").split())
    assert text.startswith(f"Class report 02_masking · {date.today().isoformat()} · 21 submissions")
    assert text.endswith("hidden cases · sandbox landlock · grader 0.1.0 · torch 2.13.0")


def test_what_a_student_passed_is_folded_below_what_failed():
    reader = HtmlReader(page([entry("ada", PASSES, failed(KNOWN))]))
    everybody = reader.text[reader.text.index("Everybody") :]
    assert everybody.index("sequence_mask") < everybody.index("masked_softmax")
    assert "masked_softmax" in reader.within("details", "td")
    assert "sequence_mask" not in reader.within("details", "td")
    assert "open" not in reader.attributes


def test_the_checks_of_an_exercise_are_folded():
    reader = HtmlReader(page([entry("ada", failed(KNOWN))]))
    assert FAILED.title in reader.within("details", "checks")


def test_no_backtick_is_printed():
    says = replace(KNOWN, says="`keys` is not used")
    alone = replace(failed(says), name="a", message="`a` is odd", outcome="could_not_grade", score=None)
    reader = HtmlReader(page([entry("ada", failed(says), alone), entry("bob", problem="`b` is missing")]))
    assert "`" not in reader.text
    assert "keys is not used" in reader.text
    assert "keys" in reader.within("code", "mistakes")


def test_a_narrow_page_has_the_names_of_the_columns_beside_the_numbers():
    reader = HtmlReader(page(CLASS))
    assert "✓ passed" in reader.within("label", "td")
    assert "mean points" in reader.within("label", "td")
