"""Each page on a desktop, on a phone and printed, light and dark: nothing is cut off, all text has AAA contrast."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers.browser import chrome
from helpers.browser.contrast import AAA, weakest
from helpers.browser.samples import CLASS, LONG_CLASS, LONG_REPORT, REPORT
from helpers.lanes import first_of_each

from grader.classroom.pages import page as class_page
from grader.report.html import page

pytestmark = pytest.mark.skipif(bool(chrome.missing()), reason=chrome.missing() or "there is a browser")

LOOKS = {
    "desktop": {"width": 1280},
    "desktop, dark": {"width": 1280, "dark": True},
    "phone": {"width": 390, "height": 844},
    "phone, dark": {"width": 390, "height": 844, "dark": True},
    "printed": {"width": 760, "medium": "print"},  # A4 without its margins
    "printed, dark": {"width": 760, "medium": "print", "dark": True},
}
PAGES = {
    "report": lambda: page(REPORT),
    "report, long names": lambda: page(LONG_REPORT),
    "class": lambda: class_page(CLASS),
    "class, long names": lambda: class_page(LONG_CLASS),
}

# Find elements that reach beyond the window, unless they are in a container that scrolls. Paper does not scroll.
CUT = """
const [width, printed] = arguments;
const scrolls = e => e && (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
return [...document.body.querySelectorAll("*")]
  .filter(e => e.getBoundingClientRect().right > width + 1 && (printed || !scrolls(e.parentElement)))
  .map(e => e.tagName + " " + e.className + " " + e.textContent.trim().slice(0, 40));
"""


def look_at(window: chrome.Window, path: Path, look: str) -> None:
    window.look(**LOOKS[look])
    window.open(path.as_uri())


def require_readable(window: chrome.Window, look: str) -> None:
    width, printed = LOOKS[look]["width"], "medium" in LOOKS[look]
    assert window.run(CUT, width, printed) == []
    assert window.run("return document.documentElement.scrollWidth") <= width
    lowest, text = weakest(window, "body")
    assert lowest >= AAA, text
    if printed:  # not in the light colour of dark pages
        assert (
            window.run("return getComputedStyle(document.querySelector('main')).color")
            != "rgb(230, 237, 243)"
        )


def file_of(folder: Path, text: str) -> Path:
    path = folder / "page.html"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize("look", first_of_each(LOOKS))
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_readable_and_not_cut_off(window, tmp_path, name, look):
    look_at(window, file_of(tmp_path, PAGES[name]()), look)
    require_readable(window, look)
