"""Frames (a JSON object and bytes) arrive as they were sent, however the pipe splits them."""

import os
import threading

import pytest

from grader.worker.frames import HEAD, read_frame, write_frame


@pytest.fixture
def pipe():
    ends = os.pipe()
    yield ends
    for end in ends:
        try:
            os.close(end)
        except OSError:
            continue


@pytest.mark.parametrize("body", [b"", b"x", b"y" * 3_000_000])
def test_a_frame_of_any_size_arrives_whole(pipe, body):
    read, write = pipe
    writer = threading.Thread(target=write_frame, args=(write, {"op": "run", "text": "注\ud800"}, body))
    writer.start()
    assert read_frame(read) == ({"op": "run", "text": "注\ud800"}, body)
    writer.join()


def test_two_frames_arrive_separately(pipe):
    read, write = pipe
    write_frame(write, {"a": 1}, b"b")
    write_frame(write, {"c": 2})
    assert [read_frame(read), read_frame(read)] == [({"a": 1}, b"b"), ({"c": 2}, b"")]


@pytest.mark.parametrize("data", [b"", b"\0" * 3, HEAD.pack(10, 0) + b"{}"])
def test_a_pipe_that_closes_before_the_end_of_a_frame_raises(pipe, data):
    read, write = pipe
    os.write(write, data)
    os.close(write)
    with pytest.raises(EOFError):
        read_frame(read)
