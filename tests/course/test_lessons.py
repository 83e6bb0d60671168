"""Lessons have formulas that render, a source for each citation, links to the code, and no accidental lists."""

import html
import re
from itertools import pairwise

import pytest
from helpers.command_line import ROOT
from markdown_it import MarkdownIt

from grader.authoring.build import lesson

LESSONS = sorted((ROOT / "assignments").glob("*/README.md"))
PAGES = [
    *LESSONS,
    *sorted((ROOT / "solutions").glob("*/*.md")),
]  # with the answers, and the pages beside a lesson
each_lesson = pytest.mark.parametrize("page", LESSONS, ids=[p.parent.name for p in LESSONS])
each_page = pytest.mark.parametrize("page", PAGES, ids=[f"{p.parent.name}/{p.name}" for p in PAGES])

FORMULA = re.compile(r"\$\$(?P<display>.+?)\$\$|\$(?P<inline>[^$]+?)\$", re.DOTALL)
# KaTeX in strict mode and MathJax render these commands. Try a new one in both before you add it.
KNOWN = re.compile(
    r"""\\(alpha|approx|beta|bigl|bigr|cdot|cos|dots|ell|epsilon|exp|frac|gamma|ge|in|infty|le|left|ln|lvert|mathrm|max|min
    |mu|odot|partial|pi|qquad|quad|right|rvert|sigma|sin|sqrt|sum|tanh|text|tfrac|theta|times|top|xi)""",
    re.VERBOSE,
)
CITED = re.compile(r"([A-Z][a-zé-]+)(?:\s+et\s+al\.|\s+and\s+[A-Z][a-z]+)?\s+\(?((?:19|20)\d\d)\b")


def without_code(text: str) -> str:
    """Replace code by other characters, so that every position stays the same."""
    return re.sub(r"```.*?```|`[^`\n]*`", lambda m: re.sub(r"[^\n]", "¤", m[0]), text, flags=re.DOTALL)


def faults(text: str) -> list[str]:
    """Return sentences about what is wrong with the formulas of a page."""
    prose = without_code(text)
    shown = html.unescape(MarkdownIt("commonmark").enable("table").render(text))
    found = []
    for formula in FORMULA.finditer(prose):
        tex = formula["display"] or formula["inline"]
        before, after = prose[: formula.start()][-1:], prose[formula.end() :][:1]
        if formula[0] not in shown:
            found.append(f"markdown changes {formula[0]}")
        for command in re.findall(r"\\[a-zA-Z]+|\\.", tex):
            if not KNOWN.fullmatch(command):
                found.append(f"{command} is not known to render, in {formula[0]}")
        if tex.count("{") != tex.count("}") or tex.count(r"\left(") != tex.count(r"\right)"):
            found.append(f"something is not closed in {formula[0]}")
        if formula["inline"] and (
            tex != tex.strip() or re.match(r"[^\s(*]", before) or re.match(r"\w", after)
        ):
            found.append(f"GitHub does not see a formula in {before}{formula[0]}{after}")
        if formula["display"] and (before, after) not in {("\n", "\n"), ("", "\n"), ("\n", "")}:
            found.append(f"{formula[0]} needs its own line")
    if "$" in FORMULA.sub("", prose):
        found.append("a single dollar sign")
    return found


@each_page
def test_every_formula_is_rendered_as_a_formula(page):
    assert faults(page.read_text("utf-8")) == []


@each_page
def test_every_source_that_is_cited_is_named_in_full(page):
    prose, _, sources = without_code(page.read_text("utf-8")).partition("## Sources\n")
    for author, year in CITED.findall(prose):
        assert re.search(rf"\b{author}\b.*?\b{year}\b", sources, re.DOTALL), f"{author} {year}"


@each_lesson
def test_a_readme_links_its_code_and_asks_to_run_no_cell(page):
    text = page.read_text("utf-8")
    for link in re.findall(r"\]\((?!https?:)([^)]+)\)", text):
        assert (page.parent / link).exists(), link
    linked = {path.suffix for path in page.parent.iterdir() if f"({path.name})" in text}
    assert linked - {".md"} == {".py", ".ipynb"}
    assert not re.search(r"[Rr]un this cell", text)


def test_a_readme_leaves_out_the_section_try_it():
    page = lesson(
        "sums", "# %% [markdown]\n# # Sums\n\n# %%\n1 + 1\n\n# %% [markdown]\n# ## Try it\n#\n# Run it.\n"
    )
    assert page.startswith("# Sums\n\n") and "(sums.ipynb)" in page and "Try" not in page


@each_page
def test_no_line_within_a_sentence_starts_like_a_list(page):
    """A line that starts with "+ 1" would become an item of a list."""
    lines = page.read_text("utf-8").splitlines()
    for before, line in pairwise(lines):
        if re.match(r"([-+*]|\d+[.)]) ", line):
            assert before == "" or re.match(r"([-+*]|\d+[.)]) |  ", before), line
