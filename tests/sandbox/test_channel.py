"""The grader removes its marks from the text that a worker printed.

It writes a mark, 16 bytes, into the worker's log to find out where the output so far ends.
"""

import pytest

from grader.sandbox.channel import MAX_RECENT, _without


@pytest.mark.parametrize("room", [0, 1, 15, 16, 17, 31, 32])
def test_no_byte_of_two_marks_is_left(room):
    """The stored output ends after `room` bytes of the marks, perhaps in the middle of one."""
    marks = [b"\0" + b"a" * 15, b"\0" + b"b" * 15]
    printed = b"x" * (MAX_RECENT - room)
    assert _without(marks, (printed + b"".join(marks))[:MAX_RECENT]) == printed
