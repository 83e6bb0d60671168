"""Reports must equal the texts in `screens/`: in 80 and 40 columns, without colour, and in words.

To accept a change, run `HEADWAY_NEW_SCREENS=1 pytest tests/report/test_screens.py` and look at the difference.
"""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pytest
from helpers.pictures import ONE_OF_EACH
from rich.cells import cell_len
from rich.console import Console

from grader.report.model import Report
from grader.report.terminal import show

SCREENS = Path(__file__).parent / "screens"
ROWS = 24
# Name → columns, and whether sentences replace the marks and pictures.
WAYS = {"80": (80, False), "40": (40, False), "words": (80, True)}


def screen(name: str, width: int = 80, words: bool = False, **console: object) -> str:
    out = io.StringIO()
    report = Report((ONE_OF_EACH[name],), "landlock", "2.13.0", "0.1.0")
    show(report, Console(file=out, width=width, highlight=False, **console), words=words)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_screen_is_as_it_was_accepted(name, way):
    width, words = WAYS[way]
    found = screen(name, width, words)
    path = SCREENS / f"{name}-{way}.txt"
    if os.environ.get("HEADWAY_NEW_SCREENS"):
        path.write_text(found, "utf-8")
    assert found == path.read_text("utf-8")
    assert all(cell_len(line) <= width for line in found.splitlines())


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_one_failing_exercise_fits_one_screen(name):
    assert len(screen(name).splitlines()) < ROWS


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_without_colour_nothing_is_lost(name, monkeypatch):
    plain = screen(name)
    monkeypatch.setenv("NO_COLOR", "1")
    console = {"force_terminal": True, "legacy_windows": False}
    uncoloured = screen(name, **console)
    monkeypatch.delenv("NO_COLOR")
    coloured = screen(name, color_system="truecolor", **console)
    assert "\x1b[31m" in coloured
    assert "\x1b[31m" not in uncoloured
    for text in (uncoloured, coloured):
        assert _without_codes(text) == plain


def _without_codes(text: str) -> str:
    lines = re.sub(r"\x1b\[[\d;]*m", "", text).splitlines()
    return "".join(f"{line.rstrip()}\n" for line in lines)


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_words_need_no_drawing_characters(name):
    text = screen(name, words=True)
    assert not set(text) & set("✓✗░▒▓█│→")


def test_a_terminal_that_cannot_draw_gets_words(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    assert screen("masking", force_terminal=True) == screen("masking", words=True)
