"""If a call in the reading process fails, the caller gets a sentence, and the next call works."""

import os
import time
from pathlib import PurePosixPath

import pytest

from grader.classroom.bounded_reader import BoundedReader
from grader.support.errors import BadData


def take_memory():
    return len(bytearray(2 << 30))


def crash():
    os._exit(1)


def raise_bad_archive():
    raise BadData("cannot be read as an archive")


def raise_zero_division():
    raise ZeroDivisionError


LONG = 120.0  # seconds: much more than a quick call needs, even on a busy machine


@pytest.mark.parametrize(
    ("function", "arguments", "seconds", "sentence"),
    [
        (take_memory, (), LONG, "takes more than 1024 MiB of memory to read"),
        pytest.param(time.sleep, (60,), 5.0, "takes more than 5 seconds to read", marks=pytest.mark.slow),
        (crash, (), LONG, "crashed the process that read it"),
        (raise_zero_division, (), LONG, r"cannot be read \(ZeroDivisionError\)"),
    ],
)
def test_after_a_failed_call_the_next_call_works(function, arguments, seconds, sentence):
    with BoundedReader(seconds=seconds) as reader:
        with pytest.raises(BadData, match=sentence):
            reader.call(function, *arguments)
        assert reader.call(PurePosixPath, "a/b") == PurePosixPath("a/b")


def test_an_exception_of_the_grader_reaches_the_caller():
    with BoundedReader() as reader, pytest.raises(BadData, match="cannot be read as an archive"):
        reader.call(raise_bad_archive)
