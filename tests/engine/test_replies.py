"""Odd JSON from a worker is read as far as it can be, and refused where it cannot.

Student code can write any reply. A right answer can hold NaN, so strict JSON would be unfair.
"""

import math

import pytest

from grader.engine.session import _json
from grader.judge.observation import read_observation

ASKED = frozenset({"flag"})
HUGE = 10**400


def observed(raw):
    return read_observation(_json(raw), b"", ASKED, frozenset({"a.py"}))


@pytest.mark.parametrize(
    ("number", "value"),
    [
        (b"NaN", math.nan),
        (b"Infinity", math.inf),
        (b"-Infinity", -math.inf),
        (b"1e999", math.inf),
        (b"1e-999", 0.0),
        (str(HUGE).encode(), HUGE),
        (b"true", True),
        (b"null", None),
    ],
    ids=["NaN", "infinity", "minus infinity", "too large", "too small", "huge", "a truth value", "nothing"],
)
def test_any_number_is_a_value(number, value):
    found = observed(b'{"values": {"flag": %b}}' % number).values["flag"]
    assert type(found) is type(value)
    assert found == value or (math.isnan(found) and math.isnan(value))


NOTHING = observed(b"{}")


@pytest.mark.parametrize(
    "raw",
    [
        b'{"values": {"flag": "5"}}',
        b'{"values": {"flag": [NaN]}}',
        b'{"values": [1], "odd": 5, "error": "E", "parameters": [], "stacked": {}, "used": "x"}',
        b'{"odd": {"other": {"is": "None"}}, "stacked": ["other", NaN, {}], "used": [Infinity]}',
        b'{"values": ' + b'{"flag":' * 300 + b"1" + b"}" * 300 + b"}",
    ],
    ids=["a text", "a list", "every field of another type", "names that were not asked for", "nested deeply"],
)
def test_what_has_another_type_is_left_out(raw):
    assert observed(raw) == NOTHING


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        (b'"message": "half \\ud800 a pair"', ("Exception", "half ? a pair", None)),
        (b'"type": NaN, "message": 1e999', ("Exception", "", None)),
        (b'"type": "E", "where": {"file": "a.py", "line": 1e999}', ("E", "", None)),
        (b'"type": "E", "where": {"file": "a.py", "line": %d}' % HUGE, ("E", "", None)),
        (b'"type": "E", "where": {"file": "a.py", "line": 3, "text": NaN}', ("E", "", ("a.py", 3, ""))),
    ],
    ids=["half a character", "numbers for texts", "an infinite line", "a huge line", "no source"],
)
def test_an_exception_is_read_with_the_texts_that_it_has(fields, error):
    found = observed(b'{"error": {%b}}' % fields).error
    assert (found.type, found.message, found.where) == error


@pytest.mark.parametrize("raw", [b"1" * 5000, b"[" * 100_000, b'{"a": nan}', b"\xff", b'"\xed\xa0\x80"', b""])
def test_what_is_no_json_is_refused(raw):
    with pytest.raises((ValueError, RecursionError)):
        _json(raw)
