"""Every picture of a lesson exists, has a text for screen readers, and is what the script draws."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import matplotlib
import pytest

from grader.authoring.build import lesson
from grader.authoring.content import PICTURES as FOLDER
from grader.authoring.content import read_all
from grader.support.stub import stub

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import pictures_lessons as script  # noqa: E402 (it is in scripts/)
from lesson_pictures.sheet import BOX, DARK, LINE, PAPER, WIDTH  # noqa: E402

ASSIGNMENTS = read_all(ROOT / "solutions")
each_assignment = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=[a.name for a in ASSIGNMENTS])
each_picture = pytest.mark.parametrize("name", list(script.PICTURES))

SHOWN = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<file>[^)]+)\)")
LIMIT = 60_000  # bytes
DRAWN_WITH = "3.11"  # other versions of matplotlib write another file
WITH_TWO_PICTURES = {"08_decoder", "10_pruning"}


@each_assignment
def test_a_lesson_shows_all_pictures_of_its_folder(assignment):
    named = [m["file"] for m in SHOWN.finditer(lesson(assignment.module, stub(assignment.source)))]
    assert sorted(named) == sorted(assignment.pictures)
    assert len(named) == (2 if assignment.name in WITH_TWO_PICTURES else 1)
    published = ROOT / "assignments" / assignment.name
    assert {
        f"{FOLDER}/{p.name}": p.read_bytes() for p in (published / FOLDER).iterdir()
    } == assignment.pictures
    for file in ("README.md", f"{assignment.module}.py", f"{assignment.module}.ipynb"):
        text = (published / file).read_text("utf-8")
        assert all(f"]({name})" in text for name in named), file


@each_assignment
def test_every_picture_has_an_alternative_text(assignment):
    for shown in SHOWN.finditer(re.sub(r"(?m)^# ?", "", assignment.source)):
        words = shown["alt"].split()
        assert 30 <= len(words) <= 90, shown["file"]
        assert not re.search(r"[$`\\]|\w\(\w", shown["alt"]), "an alternative text is read aloud"


def test_the_script_draws_every_picture_and_no_other():
    named = {f"{a.name}/{name}" for a in ASSIGNMENTS for name in a.pictures}
    assert named == set(script.PICTURES)


@each_picture
def test_a_picture_is_what_the_script_draws(name):
    stored, drawn = (ROOT / "solutions" / name).read_text("utf-8"), script.draw(name)
    if matplotlib.__version__.startswith(DRAWN_WITH + "."):
        assert drawn == stored, "run python scripts/pictures_lessons.py, then `grader build`"
    assert alike(drawn, stored)


def test_pictures_with_one_more_line_or_a_moved_word_are_not_alike():
    picture = script.draw("08_decoder/pictures/cache.svg")
    assert alike(picture.replace("#g", "#h"), picture)  # other letters
    assert not alike(picture.replace("<use", "<path", 1), picture)
    moved = re.sub(r'(<g style="[^"]*" transform="translate\()', r"\g<1>9", picture, count=1)
    assert not alike(moved, picture)


def alike(one: str, other: str) -> bool:
    """Whether two pictures have the same sequence of paths and words, with the words at nearly the same places.

    The shapes of lines and the letters are not compared: two versions of matplotlib may place words a little
    differently, and may join letters or not.
    """
    (tags, places), (other_tags, other_places) = _elements(one), _elements(other)
    return tags == other_tags and all(abs(a - b) <= 4 for a, b in zip(places, other_places, strict=True))


def _elements(svg: str) -> tuple[list[str], list[float]]:
    """Return the tags of paths and words, and the positions of the words."""
    body = re.sub(r"<defs>.*?</defs>", "", svg.partition("</style>")[2], flags=re.DOTALL)
    places = re.findall(r'<g style="[^"]*" transform="translate\(([^)]*)\)', body)
    return re.findall(r"<(?:path|g style)", body), [float(n) for place in places for n in place.split()]


# ---- contrast and text


@each_picture
def test_a_picture_is_a_small_file_with_large_letters(name):
    svg = (ROOT / "solutions" / name).read_text("utf-8")
    assert len(svg.encode()) < LIMIT
    assert svg.startswith(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}"')
    letters = [float(scale) for scale in re.findall(r"scale\(([\d.]+) -", svg)]
    assert min(letters) * 100 / 0.75 >= 12, "pixels"  # a glyph is 100 units high; 0.75 points are one pixel


@each_picture
def test_every_colour_of_a_picture_has_one_for_dark_pages(name):
    body = (ROOT / "solutions" / name).read_text("utf-8").partition("</style>")[2]
    assert set(re.findall(r"#[0-9a-f]{6}", body)) <= set(DARK)
    assert "rgb(" not in body


@pytest.mark.parametrize("dark", [False, True])
def test_the_colours_of_words_have_enough_contrast(dark):
    inks = [c for c in DARK if c not in (PAPER, LINE, BOX)]
    for ink in inks:
        pair = (DARK[ink], DARK[PAPER]) if dark else (ink, PAPER)
        assert contrast(*pair) >= 4.5, pair


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours (WCAG 2.2)."""
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
