"""`grader explain`: a list of known mistakes, and a page about each."""

import re

from helpers.command_line import run


def test_a_mistake_is_named_and_asked_about_above_its_page(course):
    seen = run("explain", "softmax-over-batch", cwd=course, COLUMNS="200").stdout
    title, says, asks, page = seen.split("\n", 3)
    assert title == "softmax-over-batch"
    assert says == "the softmax runs over the sequences of the batch"
    assert asks.startswith("Does the result for one sentence change")
    assert page.startswith("\nThe weights of one query")
    assert ">>> for lens in" in page  # the example that several pages show


def test_the_list_wraps_in_a_terminal_but_not_in_a_pipe(course):
    piped = run("explain", "masked_softmax", cwd=course).stdout.splitlines()
    assert all("  masked_softmax: " in line for line in piped)
    assert max(map(len, piped)) > 80  # so the narrow output below must wrap lines
    colored = run("explain", "masked_softmax", cwd=course, FORCE_COLOR="1", COLUMNS="50").stdout
    seen = re.sub(r"\x1b\[[0-9;]*m", "", colored)
    assert max(map(len, seen.splitlines())) <= 50
    entries = seen.replace("\n    ", " ").splitlines()
    assert [entry.split() for entry in entries] == [line.split() for line in piped]
