"""Measure the contrast ratio of every text of a page and its background."""

from __future__ import annotations

from .chrome import Window

AAA = 7.0  # WCAG 2.1, 1.4.6: the least contrast ratio of a text and its background

# JavaScript that returns [text, colour of the text, colour behind it] for every text; a colour is [r, g, b].
# [18, 18, 18] is the background of Chromium for a dark page that sets none.
COLOURS = """
const rgba = text => text.match(/[\\d.]+/g).map(Number);
const behind = element => {
  for (; element; element = element.parentElement) {
    const [r, g, b, a = 1] = rgba(getComputedStyle(element).backgroundColor);
    if (a === 1) return [r, g, b];
    if (a !== 0) throw new Error("a background that is half transparent");
  }
  return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
};
const walker = document.createTreeWalker(document.querySelector(arguments[0]), NodeFilter.SHOW_TEXT);
const found = [];
for (let node; node = walker.nextNode();) {
  const element = node.parentElement;
  if (node.data.trim() && element.tagName !== "STYLE" && element.getClientRects().length)
    found.push([node.data.trim(), rgba(getComputedStyle(element).color).slice(0, 3), behind(element)]);
}
return found;
"""


def rgb(colour: str) -> list[float]:
    """Return [r, g, b] of a colour such as "#1f2328"."""
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def luminance(colour: list[float]) -> float:
    """Return the relative luminance of WCAG 2.1. colour: [r, g, b] from 0 to 255."""
    parts = [part / 255 for part in colour]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ratio(ink: list[float], paper: list[float]) -> float:
    light, dark = sorted((luminance(ink), luminance(paper)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def weakest(window: Window, css: str) -> tuple[float, str]:
    """Return the lowest contrast ratio of the texts in the element `css`, and the text that has it."""
    found = [(ratio(ink, paper), text) for text, ink, paper in window.run(COLOURS, css)]
    assert len(found) > 20  # otherwise `css` is not the element that the test means
    return min(found)
