"""Every picture of a lesson exists, has a text for screen readers, and is what the script draws."""

import re
import sys

import matplotlib
import pytest
from helpers.command_line import ROOT
from helpers.contrast import ratio, rgb

from grader.authoring.build import lesson
from grader.authoring.content import PICTURES as FOLDER
from grader.authoring.content import read_all
from grader.support.code import stub

sys.path.insert(0, str(ROOT / "scripts"))

import pictures_lessons as script
from lesson_pictures import trained
from lesson_pictures.sheet import BOX, DARK, LINE, PAPER, WIDTH

ASSIGNMENTS = read_all(ROOT / "solutions")
each_assignment = pytest.mark.parametrize("assignment", ASSIGNMENTS, ids=[a.name for a in ASSIGNMENTS])
each_picture = pytest.mark.parametrize("name", list(script.PICTURES))

SHOWN = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<file>[^)]+)\)")
LIMIT = 60_000  # bytes
DRAWN_WITH = "3.11"  # other versions of matplotlib write another file
WITH_TWO_PICTURES = {"01_attention_pooling", "08_decoder", "09_seq2seq", "10_pruning", "17_language_model"}


@each_assignment
def test_a_lesson_and_its_pages_show_their_pictures_and_say_what_they_show(assignment):
    shown = [*SHOWN.finditer(lesson(assignment.module, stub(assignment.source)))]
    named = [m["file"] for m in shown]
    beside = [m for page in assignment.pages.values() for m in SHOWN.finditer(page.decode())]
    assert sorted(named + [m["file"] for m in beside]) == sorted(assignment.pictures)
    assert len(named) == (2 if assignment.name in WITH_TWO_PICTURES else 1)
    published = ROOT / "assignments" / assignment.name
    assert {
        f"{FOLDER}/{p.name}": p.read_bytes() for p in (published / FOLDER).iterdir()
    } == assignment.pictures
    for file in ("README.md", f"{assignment.module}.py", f"{assignment.module}.ipynb"):
        text = (published / file).read_text("utf-8")
        assert all(f"]({name})" in text for name in named), file
    for picture in (*shown, *beside):  # an alternative text is read aloud
        assert 30 <= len(picture["alt"].split()) <= 90, picture["file"]
        assert not re.search(r"[$`\\]|\w\(\w", picture["alt"]), picture["file"]


def test_the_script_draws_every_picture_and_no_other():
    named = {f"{a.name}/{name}" for a in ASSIGNMENTS for name in a.pictures}
    assert named == set(script.PICTURES)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(script.PICTURES.keys() - trained.PICTURES.keys()))
def test_a_picture_is_what_the_script_draws(name):
    stored, drawn = (ROOT / "solutions" / name).read_text("utf-8"), script.draw(name)
    if matplotlib.__version__.startswith(DRAWN_WITH + "."):
        assert drawn == stored, "run python scripts/pictures_lessons.py, then `grader build`"
    assert lines_and_words(drawn) == lines_and_words(stored)


def lines_and_words(svg: str) -> list[str]:
    """Return the tags of lines and words in their order; other versions of matplotlib move them a little."""
    body = re.sub(r"<defs>.*?</defs>", "", svg.partition("</style>")[2], flags=re.DOTALL)
    return re.findall(r"<(?:path|g style)", body)


# ---- contrast and text


@each_picture
def test_a_picture_is_small_has_large_letters_and_dark_colours(name):
    svg = (ROOT / "solutions" / name).read_text("utf-8")
    assert len(svg.encode()) < LIMIT
    assert svg.startswith(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}"')
    letters = [float(scale) for scale in re.findall(r"scale\(([\d.]+) -", svg)]
    assert min(letters) * 100 / 0.75 >= 12, "pixels"  # a glyph is 100 units high; 0.75 points are one pixel
    body = svg.partition("</style>")[2]
    assert set(re.findall(r"#[0-9a-f]{6}", body)) <= set(DARK)
    assert "rgb(" not in body


@pytest.mark.parametrize("dark", [False, True])
def test_the_colours_of_words_have_enough_contrast(dark):
    inks = [c for c in DARK if c not in (PAPER, LINE, BOX)]
    for ink in inks:
        pair = (DARK[ink], DARK[PAPER]) if dark else (ink, PAPER)
        assert ratio(*map(rgb, pair)) >= 4.5, pair
