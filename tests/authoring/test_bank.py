"""Known answers are written as edits of the reference, or as a definition that replaces it."""

import ast
from dataclasses import replace

import pytest

from grader.authoring import bank
from grader.authoring.bank import apply, edit, mutant, trivial, variant
from grader.support.code import definition_span, definitions
from grader.support.errors import UsageError

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


def mistake(id, of, *change, **fields):
    """Return a mistake of the exercise `of`, as if it were read from its file."""
    words = {"says": "It halves.", "asks": "What is half of it?"} | fields
    return replace(bank.mistake(id, *change, **words), of=of)


def test_an_edit_changes_its_own_definition_and_no_other():
    changed = apply(mistake("no-half", "scale", edit("return x / 2", "return x")), SOURCE)
    assert changed == SOURCE.replace("return x / 2", "return x")


def test_code_replaces_the_definition_with_its_decorators():
    changed = apply(variant("by-hand", "shift", "\n    def shift(x):\n        return 1 + x\n"), SOURCE)
    old = "@torch.no_grad()\ndef shift(x):\n    return x + 1\n"
    assert changed == SOURCE.replace(old, "def shift(x):\n    return 1 + x\n")


def test_two_mistakes_can_be_applied_at_once():
    pair = [
        mistake("a", "scale", edit("return x / 2", "return x / 3")),
        mistake("b", "shift", edit("+ 1", "+ 2")),
    ]
    changed = apply(pair, SOURCE)
    assert "return x / 3" in changed
    assert "x + 2" in changed


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (mistake("gone", "scale", edit("x / 7", "x")), r"scale: gone: 'x / 7' does not occur"),
        (mistake("there", "scale", edit("return x + 1", "return x")), "does not occur"),  # but in `shift`
        (
            mistake("left", "scale", edit("return x / 2", "x = x / 3\nreturn x")),
            "left: 'return' outside function",
        ),
        (
            mistake("both", "scale", edit("x / 2", "x")),
            r"scale: both: .x / 2. occurs 2 times, not 1: .* add times=2",
        ),
        (mistake("one", "shift", edit("x + 1", "x", times=2)), "occurs 1 times, not 2"),
    ],
)
def test_an_edit_must_match_as_often_as_it_says(answer, sentence):
    with pytest.raises(UsageError, match=sentence):
        apply(answer, SOURCE)


def test_an_edit_may_match_several_times_if_it_says_so_or_need_not_match_exactly():
    assert apply(mistake("both", "scale", edit("x / 2", "x / 3", times=2)), SOURCE).count("x / 3") == 2
    assert apply(mistake("both", "scale", edit("x / 2", "x")), SOURCE, exactly=False).count("x / 2") == 0


BLOCK = """
class Loop:
    def run(self, x):
        if x > 0:
            x = x - 1
            print(x)

        return x
"""


def test_a_block_gets_the_indentation_of_what_it_replaces():
    old, new = (
        "\n  if x > 0:\n      x = x - 1\n  ",
        "\n  while x > 0:\n      x = x - 1\n\n      x = x / 2\n  ",
    )
    looped = "        while x > 0:\n            x = x - 1\n\n            x = x / 2\n            print(x)\n"
    assert looped in edit(old, new).apply(BLOCK)
    part_of_a_line = edit("print(x)", "\n    if x:\n        print(-x)\n    ")
    assert "            if x:\n                print(-x)\n" in part_of_a_line.apply(BLOCK)


def test_a_block_does_not_match_lines_with_another_indentation():
    with pytest.raises(UsageError, match="does not occur"):
        edit("\nif x > 0:\n  x = x - 1\n", "pass").apply(BLOCK)


@pytest.mark.parametrize(
    ("id", "change", "fields", "sentence"),
    [
        ("some-id", [edit("a", "b")], {"kind": "same"}, "unknown kind"),
        ("some-id", [edit("a", "b")], {"asks": ""}, "needs `says` and `asks`"),
        ("some-id", [], {}, "either edits or the whole definition"),
        ("some-id", [edit("a", "b"), "x"], {}, "either edits or the whole definition"),
        *(
            (id, [edit("a", "b")], {}, "words-with-dashes")
            for id in ("Half", "half_of", "half-", "", "no half")
        ),
    ],
)
def test_a_malformed_mistake_is_refused(id, change, fields, sentence):
    with pytest.raises(ValueError, match=sentence):
        mistake(id, "scale", *change, **fields)


def test_each_kind_of_answer_needs_its_own_texts():
    says = {"says": "It halves."}
    for maker, facet in ((bank.device_mistake, "device"), (bank.dtype_mistake, "precision")):
        answer = maker("some-id", edit("a", "b"), asks="What is half of it?", **says)
        assert (answer.kind, answer.breaks) == ("policy", facet)
    assert variant("v", "scale", "def scale(x): ...").kind == "same"
    assert trivial("t", "scale", "def scale(x): ...").kind == "trivial"
    assert mutant("m", edit("a", "b"), **says).kind == "mutant"


def test_the_last_definition_of_a_name_counts():
    twice = "def f():\n    return 1\n\n\ndef f():\n    return 2\n"
    start, stop = definition_span(twice, "f")
    assert twice[start:stop] == "def f():\n    return 2\n"


def test_a_name_that_is_not_defined_at_the_top_level_is_reported():
    with pytest.raises(ValueError, match="size is not defined at the top level"):
        definition_span(SOURCE, "size")


@pytest.mark.parametrize("first_line", ["\x0c", 'text = "\u2028"', 'text = "\x85 \x1c"'])
def test_lines_are_counted_as_python_counts_them(first_line):
    source = f"{first_line}\n{SOURCE}"
    start, stop = definition_span(source, "shift")
    assert ast.parse(source[start:stop]).body[0].name == "shift"
    assert source[start:stop].startswith("@torch.no_grad()\n")
    assert source[start:stop].endswith("x + 1\n")


def test_definitions_keep_their_decorators_and_leave_demos_out():
    begin = "import math\n\n@decorated(\n    1\n)\n@twice\ndef f():\n    return 1\n\n"
    source = begin + 'print(f())\nif f():\n    f()\nx = "é"; f(); y = f()\n'
    assert definitions(source) == begin + 'x = "é"\n\ny = f()\n'
