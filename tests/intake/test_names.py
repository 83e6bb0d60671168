"""What a submission defines, under which names, and whether a definition was changed."""

from pathlib import Path

import pytest

from grader.intake.names import read_names, untouched
from grader.intake.read import Submission, Unit


def names(*sources):
    units = tuple(Unit(f"cell {i}", source) for i, source in enumerate(sources, 1))
    return read_names(Submission(Path("a.ipynb"), units))


def test_only_names_that_the_top_level_sets_are_definitions():
    found = names(
        "def a(): ...\nif True:\n    class b: ...\nelse:\n    c = 1\ntry:\n    d: int = 1\nexcept E:\n    async def e(): ...\nwith x:\n    f = g = 1"
    )
    assert set(found.definitions) == set("abcdefg")
    inner = names("def a():\n    def b(): ...\nclass c:\n    d = 1\ne: int\nf.g = 1")
    assert set(inner.definitions) == set("ac")


@pytest.mark.parametrize("decorator", ["d2l.add_to_class(A)", "add_to_class(A)"])
def test_a_function_that_becomes_a_method_is_no_definition(decorator):
    found = names(f"class A: ...\n@{decorator}\ndef transpose_qkv(self, X): ...\n@other(A)\ndef b(): ...")
    assert found.definitions.keys() == {"A", "b"}


def test_the_last_definition_of_a_name_counts():
    found = names("def a(): return 1", "def a():\n    return 2").definitions["a"]
    assert (found.unit, found.line) == ("cell 2", 1)


@pytest.mark.parametrize(
    ("parameters", "possible"),
    [
        ("a, b", {2}),
        ("a, b=1", {1, 2}),
        ("a, /, *rest", {1, 2, 3}),
        ("a, *, b=1", {1}),
        ("a, *, b", set()),
        ("*rest, b", set()),
    ],
)
def test_parameters_accept_a_number_of_positional_arguments(parameters, possible):
    found = names(f"def f({parameters}): pass\n").definitions["f"].parameters
    assert {count for count in range(4) if found.accepts(count)} == possible


def test_a_unit_that_does_not_parse_is_reported_others_are_read():
    found = names("x = = 1", "def a(): ...")
    assert found.definitions.keys() == {"a"}
    assert [(fault.unit, fault.why) for fault in found.faults] == [("cell 1", "line 1: invalid syntax")]


def test_a_warning_about_a_string_is_no_fault():
    assert names('def a():\n    "\\d"').faults == ()


def test_layout_and_comments_do_not_change_a_definition():
    stub = names("def f(x):\n    raise NotImplementedError('f')\n\n\ndef g(x): ...")
    assert untouched(
        "f", names("# mine\ndef f( x ) :\n\n    raise NotImplementedError( 'f' )  # later"), stub
    )
    assert not untouched("f", names("def f(x):\n    return x"), stub)
    assert not untouched("f", names("def g(x): ..."), stub)
    assert not untouched("h", names("def h(x): ..."), stub)
