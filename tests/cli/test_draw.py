"""`grader draw`: the attention maps that a lesson's file shows, as a page."""

import re

import pytest
from helpers.command_line import ROOT, run

HEADS = "05_multi_head_attention"
FILE = "multi_head_attention.py"


@pytest.fixture
def solved(course):
    right = (ROOT / "solutions" / HEADS / FILE).read_text("utf-8")
    (course / HEADS / FILE).write_text(right, "utf-8")
    return course


def test_a_page_has_every_head_with_labelled_rows_and_columns(solved):
    done = run("draw", "05", "--words", "to be or not to <be>", cwd=solved)
    assert (done.returncode, done.stderr) == (0, "")
    page = (solved / HEADS / "attention.html").read_text("utf-8")
    assert page.count("<table") == 3
    assert [f"head {n}" in page for n in range(4)] == [True, True, True, False]
    assert re.findall(r'<th scope="row">(.*?)</th>', page)[:6] == [
        "to",
        "be",
        "or",
        "not",
        "to",
        "&lt;be&gt;",
    ]
    rows = re.findall(r"<tr>(.*?)</tr>", page, re.DOTALL)[1:7]
    numbers = [[float(n) for n in re.findall(r"<td[^>]*> *([\d.]+)", row)] for row in rows]
    assert [round(sum(row), 1) for row in numbers] == [1.0] * 6
    assert "<script" not in page


def test_the_page_goes_where_you_say(solved, tmp_path):
    page = tmp_path / "mine.html"
    assert run("draw", HEADS, "--output", str(page), cwd=solved).returncode == 0
    assert "the cat" not in page.read_text("utf-8")  # one word per row
    assert ">cat</th>" in page.read_text("utf-8")
    assert not (solved / HEADS / "attention.html").exists()


@pytest.mark.parametrize(
    ("lesson", "change", "says"),
    [
        ("02", "", "masking.py shows no attention maps"),
        (
            "05",
            "raise OSError('no disk')",
            "multi_head_attention.py does not run to its end (OSError: no disk)",
        ),
        ("99", "", "there is no assignment 99"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_sentence(solved, lesson, change, says):
    with (solved / HEADS / FILE).open("a", encoding="utf-8") as file:
        file.write(f"\n{change}\n")
    done = run("draw", lesson, cwd=solved)
    assert done.returncode == 2
    assert says in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_a_stub_shows_nothing_yet(course):
    done = run("draw", "05", cwd=course)
    assert done.returncode == 2
    assert "shows no attention maps" in " ".join(done.stderr.split())
