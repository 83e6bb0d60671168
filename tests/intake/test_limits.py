"""Source text that is expensive to parse is refused before it is parsed, or read within limits."""

import pytest
from helpers.bounded import run_bounded
from helpers.hostile_sources import HOSTILE, REFUSED
from helpers.lanes import first_of_each

from grader.intake.syntax import (
    MAX_DOTTED_NAMES,
    MAX_SOURCE_BYTES,
    MAX_TOKENS,
    _trees,
    check_sources,
    parse,
)
from grader.support.errors import BadData


@pytest.mark.parametrize("kind", first_of_each(HOSTILE))
@pytest.mark.parametrize("suffix", [".py", ".ipynb"])
def test_hostile_source_is_read_within_bounds(kind, suffix):
    result = run_bounded("helpers.hostile_sources:read", kind, suffix, seconds=20)
    if kind in REFUSED:
        assert REFUSED[kind] in result
    elif kind == "half a character":
        assert "UTF-8" in result or (suffix == ".ipynb" and result == ["masked_softmax"])  # it becomes U+FFFD
    elif kind == "a long line of minus signs":
        assert result == ["too deeply nested to read"]
    else:
        assert result == ["masked_softmax"]


@pytest.mark.parametrize(
    "sources",
    [
        ["a" * MAX_SOURCE_BYTES],
        ["a " * MAX_TOKENS],
        ["a " * (MAX_TOKENS // 2)] * 2,
        ["import torch" + ".a" * (MAX_DOTTED_NAMES - 1)],
        ["# " + "=" * 100_000 + "\n" + "#" * 100_000],
        ['"""' + "1. 0. 0. 1.\n" * 100 + '"""'],
    ],
)
def test_a_source_within_the_limits_is_accepted(sources):
    check_sources(sources)


@pytest.mark.parametrize(
    "sources",
    [
        ["a" * MAX_SOURCE_BYTES, "a"],
        ["é" * (MAX_SOURCE_BYTES // 2 + 1)],
        ["a " * MAX_TOKENS, "a"],
        ["import torch" + ".a" * MAX_DOTTED_NAMES],
    ],
)
def test_a_source_beyond_its_limit_is_refused(sources):
    with pytest.raises(BadData):
        check_sources(sources)


def test_words_and_symbols_are_counted():
    # `**` counts as one, and so does `====`.
    assert check_sources(["def f(x):\n    return x ** 2  # ====\n"]) == 12


@pytest.mark.slow
def test_the_cache_of_trees_is_limited_by_their_size():
    small, large = "x = 1\n", "a\n" * (MAX_TOKENS - 2)  # together, more than MAX_TOKENS
    first = parse(small)
    assert parse(small) is first
    parse(large)
    assert parse(small) is not first
    assert sum(cost for cost, _tree in _trees.values()) <= MAX_TOKENS


@pytest.mark.parametrize(
    ("source", "message", "line"),
    [
        ("x = 1\nx =\n", "invalid syntax", 2),
        ("x = '\ud800'", "contains a character that is not valid Unicode", None),
        ("x = " + "-" * 20_000 + "1", "too deeply nested to read", None),
    ],
)
def test_a_source_that_cannot_be_parsed_has_one_sentence(source, message, line):
    with pytest.raises(SyntaxError) as caught:
        parse(source)
    assert (caught.value.msg, caught.value.lineno) == (message, line)
