"""`grader play`: a verse, its keys, and what it says if it cannot write."""

import io
import os
import random
import subprocess

import pytest
import torch
from helpers.command_line import GRADER, HANGS_AFTER, make_course, run
from rich.console import Console
from safetensors.torch import save_file

from grader.cli.play import ROOM, Page
from grader.given import LanguageModel
from grader.given.rhymes import SIZES

LESSON = "17_language_model"


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path / "course", LESSON)


def save_weights(course):
    torch.manual_seed(0)
    save_file(LanguageModel(**SIZES).state_dict(), course / LESSON / "language_model.safetensors")


def test_without_weights_it_says_where_they_come_from(course):
    done = run("play", cwd=course)
    assert done.returncode == 2
    assert (
        f"there are no weights in {course / LESSON / 'language_model.safetensors'}; the lesson" in done.stderr
    )


def test_a_course_without_the_lesson_has_no_model(tmp_path):
    done = run("play", cwd=make_course(tmp_path / "course", "04_heads"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "this course has no language model" in done.stderr


def test_a_seed_writes_the_same_text_again_and_another_seed_another(course):
    save_weights(course)
    first, again, other = (run("play", "--verses", 2, "--seed", seed, cwd=course) for seed in (7, 7, 8))
    assert first.returncode == 0
    assert first.stdout == again.stdout != other.stdout
    assert "LanguageModel has not passed yet, so the course's own is used." in first.stderr


class Scribe:
    """Writes `text`, and looks at the second character most."""

    heads = ((0, 0), (0, 1))

    def __init__(self, text):
        self.text, self.asked = "\n" + text, []

    def next(self, text, uniform, temperature, top_p):
        self.asked.append((temperature, top_p))
        return self.text[len(text)]

    def looks(self, text, block, head):
        return [0.25, 0.5 + head / 4] + [0.0] * (len(text) - 2)


def page_of(text):
    page = Page(Scribe(text), random.Random(0), 1.0, 0.9)
    page.step()
    return page


@pytest.mark.parametrize(("text", "written"), [("Ab\n\nC", "\nAb\n\n"), ("x" * 999, "\n" + "x" * (ROOM - 1))])
def test_a_verse_ends_with_an_empty_line_and_never_grows_beyond_what_was_trained(text, written):
    page = page_of(text)
    while page.writes:
        page.step()
    assert page.text == written


def test_keys_change_how_it_writes_and_which_head_is_shown():
    page = page_of("Abc")
    for key in "tPhx":
        assert not page.press(key)
    page.step()
    assert page._writer.asked == [(1.0, 0.9), (0.9, 0.95)]
    console = Console(width=70, record=True, file=io.StringIO())
    console.print(page)
    shown = console.export_text()
    assert "Block 1, head 2, at the last character, looks at:\n'A' in line 1, column 1  0.75  ━━━━" in shown
    assert "the beginning            0.25" in shown
    for _number in range(99):
        page.press("t")
        page.press("P")
    page.step()
    assert page._writer.asked[-1] == (0.0, 1.0)
    page.press(" ")
    assert not page.writes
    page.press(" ")
    assert page.writes
    assert page.text == "\n"
    assert page.press("q")


@pytest.mark.slow
def test_on_a_terminal_it_writes_until_q(course):
    pty = pytest.importorskip("pty")
    save_weights(course)
    our_end, child_end = pty.openpty()
    process = subprocess.Popen(
        [GRADER, "play"], cwd=course, stdin=child_end, stdout=child_end, stderr=child_end
    )
    os.close(child_end)
    shown = b""
    while b"q quit" not in shown:
        shown += os.read(our_end, 1 << 16)
    os.write(our_end, b"hq")
    assert process.wait(HANGS_AFTER) == 0
    os.close(our_end)
