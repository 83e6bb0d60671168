"""The class page and the pages of submissions: what they show, and in which order. Text is escaped, nothing is fetched."""

import hashlib
import re
from pathlib import Path

from helpers.html_reader import HtmlReader, assert_fetches_nothing
from helpers.samples import CLASS, KNOWN, entry, failed, hostile, result

from grader.classroom.pages import page, write_pages
from grader.report.model import Diagnosis

EVIL = "</td><script>alert(1)</script><img src=x onerror=alert(1)>&amp;\"'{{ 7*7 }}"


def words(text: str) -> str:
    return re.sub(r"\s+", " ", HtmlReader(text).text)


def test_hostile_text_is_escaped_and_nothing_is_fetched():
    """EVIL is in every text that a student can choose, and in some others."""
    same = result(f"name{EVIL}", "failed", 1.0, diagnosis=Diagnosis("unknown", says=EVIL), fingerprint="x")
    ungraded = result(f"name{EVIL}", "could_not_grade", None, message=EVIL)
    shown = page(
        [
            entry(f"a{EVIL}", hostile(EVIL)),
            *(entry(f"{n}{EVIL}", same) for n in range(2)),
            entry(f"d{EVIL}", problem=EVIL),
            entry(f"e{EVIL}", ungraded),
        ]
    )
    for text in (shown, page(CLASS), page([])):
        assert_fetches_nothing(text)
    assert "{{ 7*7 }}" in HtmlReader(shown).text


def test_the_page_says_first_what_needs_the_instructor_then_the_commonest_mistake():
    text = words(page([entry("zoe", failed(Diagnosis("exact", (("rare",),), "rare"))), *CLASS]))
    last = 0
    for part in (
        "mean points",
        "Could not be graded",
        "These points are open",
        "gus/02_masking/masking.py sequence_mask: the sandbox is not there",
        "14 × mask-length-counts-one-more in sequence_mask",
        "bob",
        "student11",
        "1 × rare",
        "Mistakes without a name",
        "2 × sequence_mask:same in sequence_mask",
        "the smallest: fay/02_masking/masking.py",
        "eve, fay",
        "Checks that fail",
        "18 of 21 values: padded steps are 0",  # how many students fail, and "facet: title of the check"
        "Everybody",
        "Nothing to grade in these ivy/02_masking/masking.py notes.py defines no exercise",
    ):
        assert part in text[last:], part
        last = text.index(part, last)
    assert "ada" not in text[text.index("Checks that fail") : text.index("Everybody")]


def test_outcomes_have_a_mark_and_a_word_besides_their_colour():
    text = page(CLASS)
    for outcome, mark in (("passed", "✓"), ("failed", "✗"), ("not_started", "○"), ("could_not_grade", "?")):
        assert re.search(
            rf'<span class="is-{outcome}"><span aria-hidden="true">{re.escape(mark)}</span> \w+', text
        )


def test_the_page_warns_of_the_basic_sandbox():
    assert "stops no determined attacker" in words(page([entry("ada", failed(KNOWN), sandbox="basic")]))
    assert "stops no determined attacker" not in words(page(CLASS))


def test_every_submission_has_a_page_of_its_own(tmp_path: Path):
    two = [entry("ada", failed(KNOWN)), entry("ada", result("sequence_mask", "passed", 3.0)), entry("../x")]
    write_pages(tmp_path / "pages", two)
    hashed = hashlib.sha256(b"../x").hexdigest()[:16]
    names = [path.name for path in sorted((tmp_path / "pages").iterdir())]
    assert names == [f"_x.{hashed}.html", "ada-2.html", "ada.html"]
    assert KNOWN.says in (tmp_path / "pages" / "ada.html").read_text("utf-8")
