"""Known answers are written as what they change."""

import ast

import pytest

from grader.authoring.bank import apply, mistake, trivial, variant
from grader.support.source import definition_span

SOURCE = '''import torch


def scale(x):
    """Text with x / 2 in it."""
    return x / 2


@torch.no_grad()
def shift(x):
    return x + 1


class Head:
    size = 2


tail = 1
'''


def says(**fields):
    return {"says": "It halves.", "asks": "What is half of it?"} | fields


def test_a_swap_changes_its_own_definition_and_no_other():
    changed = apply(mistake("no-half", "scale", **says(swap={"return x / 2": "return x"})), SOURCE)
    assert changed == SOURCE.replace("return x / 2", "return x")


def test_code_takes_the_place_of_the_whole_definition_with_its_decorators():
    changed = apply(variant("by-hand", "shift", code="\n    def shift(x):\n        return 1 + x\n"), SOURCE)
    assert "@torch.no_grad" not in changed
    assert (
        changed.replace(
            "def shift(x):\n    return 1 + x\n", "@torch.no_grad()\ndef shift(x):\n    return x + 1\n"
        )
        == SOURCE
    )


def test_two_mistakes_at_once_are_both_there():
    pair = [
        mistake("a", "scale", **says(swap={"/ 2": "/ 3"})),
        mistake("b", "shift", **says(swap={"+ 1": "+ 2"})),
    ]
    changed = apply(pair, SOURCE)
    assert "x / 3" in changed
    assert "x + 2" in changed


def test_a_piece_that_does_not_occur_is_refused_with_the_mistakes_name():
    with pytest.raises(ValueError, match=r"scale: gone: 'x / 7' does not occur"):
        apply(mistake("gone", "scale", **says(swap={"x / 7": "x"})), SOURCE)


def test_a_piece_of_another_definition_does_not_count():
    with pytest.raises(ValueError, match="does not occur"):
        apply(mistake("there", "scale", **says(swap={"return x + 1": "return x"})), SOURCE)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (says(swap={"a": "b"}, kind="same"), "unknown kind"),
        ({"swap": {"a": "b"}, "says": "It halves."}, "needs `says` and `asks`"),
        (says(), "either `swap` or `code`"),
        (says(swap={"a": "b"}, code="x"), "either `swap` or `code`"),
    ],
)
def test_an_incomplete_mistake_is_refused(fields, sentence):
    with pytest.raises(ValueError, match=sentence):
        mistake("some-id", "scale", **fields)


@pytest.mark.parametrize("id", ["Half", "half_of", "half-", "", "no half"])
def test_an_id_is_words_with_dashes(id):
    with pytest.raises(ValueError, match="words-with-dashes"):
        mistake(id, "scale", **says(swap={"a": "b"}))


def test_answers_that_are_no_mistakes_need_no_words():
    assert variant("v", "scale", code="def scale(x): ...").kind == "same"
    assert trivial("t", "scale", code="def scale(x): ...").kind == "trivial"


def test_the_last_definition_of_a_name_counts():
    twice = "def f():\n    return 1\n\n\ndef f():\n    return 2\n"
    start, stop = definition_span(twice, "f")
    assert twice[start:stop] == "def f():\n    return 2\n"


def test_a_name_that_is_not_defined_at_the_top_level_is_told():
    with pytest.raises(ValueError, match="size is not defined at the top level"):
        definition_span(SOURCE, "size")


@pytest.mark.parametrize("odd", ["\x0c", 'text = "\u2028"', 'text = "\x85 \x1c"'])
def test_lines_are_counted_as_python_counts_them(odd):
    source = f"{odd}\n{SOURCE}"
    start, stop = definition_span(source, "shift")
    assert ast.parse(source[start:stop]).body[0].name == "shift"
    assert source[start:stop].startswith("@torch.no_grad()\n")
    assert source[start:stop].endswith("x + 1\n")
