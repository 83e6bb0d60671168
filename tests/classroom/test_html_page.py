"""The class report as HTML: what it shows, and in which order. Text is escaped, and nothing is fetched."""

from __future__ import annotations

import re

from helpers.browser.samples import CLASS, KNOWN, entry, failed, result
from helpers.html_reader import HtmlReader, assert_fetches_nothing

from grader.classroom.pages import page
from grader.report.model import CheckResult, Diagnosis

EVIL = "</td><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\"'{{ 7*7 }}"


def words(text: str) -> str:
    return re.sub(r"\s+", " ", HtmlReader(text).text)


def hostile():
    """Return a class with EVIL in every text that a student can choose, and in some others."""
    check = CheckResult("c", EVIL, EVIL, "failed", message=EVIL)
    wrong = result(
        f"name{EVIL}",
        "failed",
        1.0,
        checks=(check,),
        diagnosis=Diagnosis("exact", ((EVIL,),), EVIL),
        message=EVIL,
    )
    same = result(
        f"name{EVIL}",
        "failed",
        1.0,
        checks=(check,),
        diagnosis=Diagnosis("unknown", says=EVIL),
        fingerprint="x",
    )
    return [
        entry(f"a{EVIL}", wrong),
        entry(f"b{EVIL}", same),
        entry(f"c{EVIL}", same),
        entry(f"d{EVIL}", problem=EVIL),
        entry(f"e{EVIL}", result(f"name{EVIL}", "could_not_grade", None, message=EVIL)),
    ]


def test_hostile_text_is_escaped_and_nothing_is_fetched():
    for text in (page(hostile()), page(CLASS), page([])):
        assert_fetches_nothing(text)
    assert "{{ 7*7 }}" in HtmlReader(page(hostile())).text


def test_the_commonest_mistake_comes_first_with_its_students():
    text = words(page([entry("zoe", failed(Diagnosis("exact", (("rare",),), "rare"))), *CLASS]))
    first = text.index("14 × mask-length-counts-one-more in sequence_mask")
    assert first < text.index("1 × rare")
    for student in ("bob", "cyd", *(f"student{n}" for n in range(12))):
        assert student in text[first : text.index("1 × rare")]


def test_an_unnamed_mistake_shows_its_smallest_submission():
    text = words(page(CLASS))
    unnamed = text[text.index("Mistakes without a name") : text.index("Checks that fail")]
    assert "2 × sequence_mask:same in sequence_mask" in unnamed
    assert "the smallest: fay/02_masking/masking.py" in unnamed
    assert "eve, fay" in unnamed


def test_a_failing_check_has_a_count_and_lists_no_passing_student():
    text = words(page(CLASS))
    checks = text[text.index("Checks that fail") : text.index("Everybody")]
    # Two cells of one row: how many students fail, and "facet: title of the check".
    assert "17 of 20 values: padded steps are 0" in checks
    assert "ada" not in checks


def test_the_reason_is_beside_the_outcome_of_a_blocked_exercise():
    text = words(
        page([entry("ada", result("sequence_mask", "blocked", 0.0, message="line 3: invalid syntax"))])
    )
    assert "sequence_mask ! blocked line 3: invalid syntax" in text


def test_outcomes_have_a_mark_and_a_word_besides_their_colour():
    text = page(CLASS)
    for outcome, mark in (("passed", "✓"), ("failed", "✗"), ("not_started", "○"), ("could_not_grade", "?")):
        assert re.search(
            rf'<span class="is-{outcome}"><span aria-hidden="true">{re.escape(mark)}</span> \w+', text
        )


def test_what_could_not_be_graded_follows_the_summary():
    text = words(page(CLASS))
    section = text[text.index("Could not be graded") : text.index("Known mistakes")]
    assert text.index("mean points") < text.index("Could not be graded")
    assert "gus/02_masking/masking.py sequence_mask: the sandbox is not there" in section
    assert "These points are open" in section
    assert "Nothing to grade in these ivy/02_masking/masking.py notes.py defines no exercise" in text


def test_the_page_warns_of_the_basic_sandbox():
    assert "stops no determined attacker" in words(page([entry("ada", failed(KNOWN), sandbox="basic")]))
    assert "stops no determined attacker" not in words(page(CLASS))
