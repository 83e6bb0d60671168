"""HTML in a real browser: readable in light and dark, in several hosts, wide and narrow, without scripts.

A host is a program that shows a report inside its own page.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from helpers.browser import chrome
from helpers.browser.contrast import AAA, weakest
from helpers.browser.samples import CLASS, REPORT, entry, hostile

from grader.classroom.pages import page as class_page
from grader.report.html import fragment, page

pytestmark = pytest.mark.skipif(bool(chrome.missing()), reason=chrome.missing() or "there is a browser")

NARROWEST = 320  # pixels in which a page needs no horizontal scrolling (WCAG 2.1, 1.4.10)

# The style of tables in JupyterLab.
LAB = """<style>
.jp-RenderedHTMLCommon td,.jp-RenderedHTMLCommon th,.jp-RenderedHTMLCommon tr{text-align:right;vertical-align:middle;padding:.5em}
.jp-RenderedHTMLCommon tbody tr:nth-child(odd){background:#808080}
</style>"""

# host → (attributes of the body, styles of the host, whether the host is dark)
HOSTS = {
    "lab, light": ("data-jp-theme-light=true", LAB, False),
    "lab, dark": ("data-jp-theme-light=false", LAB, True),
    "vscode, light": ("class=vscode-light", "", False),
    "vscode, dark": ("class=vscode-dark", "", True),
    "vscode, high contrast": ("class=vscode-high-contrast", "", True),
    "vscode, high contrast light": ("class='vscode-high-contrast-light vscode-high-contrast'", "", False),
    "colab, dark": ("theme=dark", "", True),
    "nbgrader": ("id=notebook-container", "", False),
}


def open_text(window: chrome.Window, folder: Path, text: str) -> None:
    path = folder / "page.html"
    path.write_text(text, "utf-8")
    window.open(path.as_uri())


def hosted(host: str) -> str:
    attributes, styles, _dark = HOSTS[host]
    return (
        f"<!DOCTYPE html><html><body {attributes}>"
        f"<div class=jp-RenderedHTMLCommon>{fragment(REPORT)}</div>{styles}</body></html>"
    )


PAGES = {"report": page(REPORT), "class": class_page(CLASS)}


@pytest.mark.parametrize("prefers_dark", [False, True])
@pytest.mark.parametrize("host", HOSTS)
def test_a_report_takes_the_colours_of_its_host(window, tmp_path, host, prefers_dark):
    window.look(dark=prefers_dark)
    open_text(window, tmp_path, hosted(host))
    lowest, text = weakest(window, ".headway")
    assert lowest >= AAA, text
    paper = window.run("return getComputedStyle(document.querySelector('.headway')).backgroundColor")
    assert paper == ("rgb(20, 24, 29)" if HOSTS[host][2] else "rgb(255, 255, 255)")


# Find cells that are too narrow for their longest word, or for six letters if the word is longer. The narrowest
# letters are 0.3 of the font size wide.
BROKEN = """
return [...document.querySelectorAll('td, th')].filter(e => e.innerText.trim()).filter(e => {
  const longest = Math.max(...e.innerText.split(/[^\\w]+/).map(word => word.length));
  const style = getComputedStyle(e);
  const inner = e.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  return inner < Math.min(longest, 6) * parseFloat(style.fontSize) * 0.3;
}).map(e => e.innerText.slice(0, 60))
"""


@pytest.mark.parametrize(("name", "width"), [("class", 375), ("class", NARROWEST), ("report", NARROWEST)])
def test_a_narrow_page_needs_no_sideways_scrolling(window, tmp_path, name, width):
    window.look(width=width)
    open_text(window, tmp_path, PAGES[name])
    assert window.run("return document.documentElement.scrollWidth") <= width
    if width > NARROWEST:
        assert window.run(BROKEN) == [], "a column is broken into letters"
    window.look()


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("dark", [False, True])
def test_pictures_are_seen_on_a_desktop_and_on_a_phone(window, tmp_path, width, dark):
    window.look(dark=dark, width=width)
    open_text(window, tmp_path, PAGES["report"])
    shown = window.text()
    for text in ("Attention weights, batch 2", "0.2000✗", "your result", "masking ✗ 1/2", "▶  42"):
        assert text in shown, text
    wrong = window.all(".hw-grid td.hw-wrong")
    assert len(wrong) == 5 + 1  # in the order of the pictures in helpers/pictures.py
    assert all(cell.text.endswith("✗") for cell in wrong)
    shades = "return new Set([...document.querySelectorAll('td[class*=hw-s]')].map(e => getComputedStyle(e).backgroundColor)).size"
    assert window.run(shades) == 5  # blank and four shades
    assert window.run("return document.documentElement.scrollWidth") <= width
    window.look()


def test_tables_keep_their_style_in_jupyterlab(window, tmp_path):
    window.look()
    open_text(window, tmp_path, hosted("lab, light"))
    for part, style, expected in (("td", "textAlign", "left"), ("tr", "backgroundColor", "rgba(0, 0, 0, 0)")):
        found = window.run(
            f"return [...new Set([...document.querySelectorAll('.headway .hw-rows {part}')].map(e => getComputedStyle(e).{style}))]"
        )
        assert found == [expected]


EVIL = "<img src=x onerror=\"document.title='owned'\"></style></td><script>document.title='owned'</script>"
HOSTILE = {
    "report": page(replace(REPORT, exercises=(hostile(EVIL),), remarks=(EVIL,))),
    "class": class_page([entry(EVIL, hostile(EVIL))]),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_are_shown_as_text(window, tmp_path, name):
    open_text(window, tmp_path, HOSTILE[name])
    assert window.text().count("<img src=x onerror=") >= 5
    assert window.all("img, script") == []
    assert "owned" not in window.driver.title
