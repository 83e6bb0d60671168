"""The HTML report: escaped, self-contained, with colours for light and dark."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from helpers.html_reader import assert_fetches_nothing

from grader.report.html import FOLDER, fragment, page, sentence
from grader.report.model import CheckResult, Diagnosis, ExerciseResult, Line, Report
from grader.report.picture_data import Chain, Link, Picture

EVIL = "</div><script>alert(1)</script>&amp;\"'"
CHECK = CheckResult(
    "c",
    "values",
    f"title {EVIL}",
    "failed",
    message=f"message {EVIL}",
    expected=f"1.0 {EVIL}",
    got="2.0",
    where=EVIL,
)
RESULT = ExerciseResult(
    f"name{EVIL}",
    "01_a",
    "failed",
    1.0,
    2.0,
    title=EVIL,
    message=EVIL,
    checks=(CHECK, CheckResult("d", "values", "later", "skipped", message="skipped: earlier checks failed")),
    diagnosis=Diagnosis("exact", (("a",),), f"says {EVIL}", EVIL),
    remarks=(EVIL,),
)
REPORT = Report((RESULT,), sandbox="strict", torch="2", grader="0", remarks=(EVIL,))


@pytest.mark.parametrize("text", [fragment(REPORT), page(REPORT), sentence(EVIL)])
def test_texts_are_escaped_and_nothing_is_fetched(text):
    assert_fetches_nothing(text)


def test_only_computed_shapes_have_an_arrow():
    chain = Chain(
        (Link("X", "(2, 3)", arrow=False), Link("W", "(3, 4)", arrow=False), Link("scores", "(2, 4)"))
    )
    result = replace(RESULT, picture=Picture("Shapes", chain))
    items = re.findall(r"<li[^>]*>", fragment(replace(REPORT, exercises=(result,))))
    assert items == ["<li>", "<li>", '<li class="hw-arrow">']
    assert re.findall(r"\.[^{}]*::before\{content:\"→ ", fragment(REPORT)) == [
        '.headway .hw-chain .hw-arrow::before{content:"→ '
    ]


@pytest.mark.parametrize(("certainty", "head"), [("repaired", "look at"), ("suspected", "perhaps look at")])
def test_only_a_repaired_line_is_shown_as_certain(certainty, head):
    diagnosis = Diagnosis("none", lines=(Line("masking.py", 41, "return X", certainty),))
    text = fragment(replace(REPORT, exercises=(replace(RESULT, diagnosis=diagnosis),)))
    assert f"<th>{head}</th>" in text


def test_html_has_the_parts_of_the_report_in_a_terminal():
    text = fragment(REPORT)
    for part in (
        "known mistake",
        "1 / 2",
        "1.0",
        "2.0",
        "1 more check skipped",
        "(skipped: earlier checks failed)",
        "public cases",
        "sandbox strict",
    ):
        assert part in text


def named(**known):
    result = ExerciseResult("masked_softmax", "02_masking", "passed", 5.0, 5.0)
    return page(Report((result,), "strict", "2", "0", **known))


def test_a_page_names_the_student_the_file_and_the_assignment():
    for_class = named(extra={"student": "ada", "submission": "ada/masking.py", "content": ""})
    assert "<title>Headway report: ada · ada/masking.py · 02_masking</title>" in for_class
    assert ">ada · ada/masking.py · 02_masking</div>" in for_class


def test_a_page_of_a_file_names_no_folder_of_its_author():
    text = named(file="/home/ada/course/masking.py")
    assert ">masking.py · 02_masking</div>" in text
    assert "/home" not in text


def test_a_report_has_colours_for_every_dark_host():
    text = fragment(REPORT)
    for selector in ("prefers-color-scheme:dark", "data-jp-theme-light=false", "vscode-dark", "theme=dark"):
        assert selector in text


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_contrast_meets_wcag_aaa(theme):
    """Compute the contrast without a browser: text on the page and on boxes, and values on each shade."""
    source = (FOLDER / "colours.html.jinja").read_text("utf-8")
    colours = [dict(re.findall(r"--hw-(\w+):(#\w{6})", part)) for part in source.split("endset")][theme]
    pairs = [(ink, paper) for ink in ("ink", "faint", "good", "bad", "odd") for paper in ("paper", "box")]
    pairs += [("ink", f"s{n}") for n in range(1, 5)]
    for ink, paper in pairs:
        light, dark = sorted((luminance(colours[ink]), luminance(colours[paper])), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 7, (paper, ink)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.1)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_hidden_check_shows_no_values():
    hidden = CheckResult(
        "c", "values", "title", "failed", visibility="hidden", message="what", expected=None, got=None
    )
    result = ExerciseResult("a", "01_a", "failed", 1.0, 2.0, checks=(hidden,))
    text = fragment(Report((result,), "strict", "2", "0", seed="hidden"))
    assert "<th>expected" not in text
    assert "hidden cases" in text
