"""The text that a worker printed, without the marks that the grader adds."""

import pytest

from grader.sandbox.channel import MAX_RECENT, _without


@pytest.mark.parametrize("kept", [0, 1, 15, 16, 17, 31, 32])
def test_no_byte_of_two_marks_is_left(kept):
    marks = [b"\0" + b"a" * 15, b"\0" + b"b" * 15]
    printed = b"x" * (MAX_RECENT - kept)
    assert _without(marks, (printed + b"".join(marks))[:MAX_RECENT]) == printed
