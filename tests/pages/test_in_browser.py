"""The report and the class page in a real browser: readable and not cut off; hostile text is shown as text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from helpers.browser import chrome
from helpers.browser.contrast import AAA, weakest
from helpers.browser.samples import CLASS, REPORT, entry, hostile

from grader.classroom.pages import page as class_page
from grader.report.html import page

pytestmark = pytest.mark.skipif(bool(chrome.missing()), reason=chrome.missing() or "there is a browser")

NARROWEST = 320  # pixels in which a page needs no horizontal scrolling (WCAG 2.1, 1.4.10)
EVIL = "<img src=x onerror=\"document.title='owned'\"></style></td><script>document.title='owned'</script>"
PAGES = {
    "report": page(replace(REPORT, exercises=(*REPORT.exercises, hostile(EVIL)), remarks=(EVIL,))),
    "class": class_page([*CLASS, entry(EVIL, hostile(EVIL))]),
}

# Find elements that reach beyond the window, unless they are in a container that scrolls.
CUT = """
const scrolls = e => e && (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
return [...document.body.querySelectorAll("*")]
  .filter(e => e.getBoundingClientRect().right > arguments[0] + 1 && !scrolls(e.parentElement))
  .map(e => e.tagName + " " + e.className + " " + e.textContent.trim().slice(0, 40));
"""


@pytest.fixture(scope="module")
def window() -> Iterator[chrome.Window]:
    with chrome.chromium() as opened:
        yield opened


@pytest.mark.parametrize("width", [1280, NARROWEST])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_readable_whole_and_harmless(window, tmp_path, name, dark, width):
    path = tmp_path / "page.html"
    path.write_text(PAGES[name], "utf-8")
    window.open(path, dark=dark, width=width)
    lowest, text = weakest(window, "body")
    assert lowest >= AAA, text
    assert window.run(CUT, width) == []
    assert window.run("return document.documentElement.scrollWidth") <= width
    assert window.run("return document.body.innerText").count("<img src=x onerror=") >= 5
    assert window.all("img, script") == []
    assert "owned" not in window.driver.title
