"""The HTML report: escaped, self-contained, with colours for light and dark. All pages are made from templates."""

import ast
import re
from dataclasses import replace

import pytest
from helpers.contrast import AAA, ratio, rgb
from helpers.html_reader import assert_fetches_nothing
from helpers.pictures import ONE_OF_EACH
from helpers.samples import hostile
from jinja2 import UndefinedError

from grader.report.html import FOLDER, environment, fragment, page, sentence
from grader.report.model import CheckResult, ExerciseResult, Report

EVIL = "</div><script>alert(1)</script>&amp;\"'"
REPORT = Report((hostile(EVIL),), sandbox="strict", torch="2", grader="0", remarks=(EVIL,))
GRADER = FOLDER.parent
TAG = re.compile(r"</?(a|b|body|code|div|h[1-6]|html|p|pre|span|style|svg|strong|table|t[dhr])( [a-z-]+=|>)")


@pytest.mark.parametrize("text", [fragment(REPORT), page(REPORT), sentence(EVIL)])
def test_texts_are_escaped_and_nothing_is_fetched(text):
    assert_fetches_nothing(text)
    assert "&lt;script&gt;" in text


def test_no_module_writes_html_and_no_template_turns_escaping_off():
    modules = sorted(GRADER.rglob("*.py"))
    assert len(modules) > 100
    for path in modules:
        constants = (
            n.value for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Constant)
        )
        assert not [text for text in constants if isinstance(text, str) and TAG.search(text)], path
    for path in GRADER.rglob("*.jinja"):
        assert not re.search(r"\|\s*safe|autoescape|Markup", path.read_text("utf-8")), path


def test_a_misspelt_name_in_a_template_raises():
    with pytest.raises(UndefinedError):
        environment(FOLDER).from_string("{{ reprot }}").render()


def test_only_computed_shapes_have_an_arrow():
    text = fragment(replace(REPORT, exercises=(ONE_OF_EACH["shapes"],)))
    assert re.findall(r"<li[^>]*>", text) == ["<li>", *['<li class="hw-arrow">'] * 2]
    assert re.findall(r"\.[^{}]*::before\{content:\"→ ", text) == [
        '.headway .hw-chain .hw-arrow>:first-child::before{content:"→ '
    ]


def test_a_page_names_student_and_file_but_no_folder_of_the_author():
    result = ExerciseResult("masked_softmax", "02_masking", "passed", 5.0, 5.0)
    report = replace(REPORT, exercises=(result,), remarks=())
    of_class = page(replace(report, extra={"student": "ada", "submission": "ada/masking.py", "content": ""}))
    assert "<title>Headway report: ada · ada/masking.py · 02_masking</title>" in of_class
    own = page(replace(report, file="/home/ada/course/masking.py"))
    assert "<title>Headway report: masking.py · 02_masking</title>" in own
    assert "/home" not in own


def test_a_hidden_check_shows_no_values():
    hidden = CheckResult("c", "values", "title", "failed", visibility="hidden", expected=None, got=None)
    result = ExerciseResult("a", "01_a", "failed", 1.0, 2.0, checks=(hidden,))
    text = fragment(Report((result,), "strict", "2", "0", seed="hidden"))
    assert ">expected<" not in text
    assert "hidden cases" in text


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
        assert ratio(rgb(colours[ink]), rgb(colours[paper])) >= AAA, (paper, ink)
