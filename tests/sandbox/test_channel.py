"""A channel neither waits for a worker that reads and prints as it likes, nor loses what it has printed.

The Windows form, which copies between pipes and sockets, works here, too, so both are tested.
"""

import os
import threading
import time
from types import SimpleNamespace

import pytest
from helpers.waiting import within

from grader.sandbox import channel as channels
from grader.sandbox.channel import Channel, TooMuchOutput
from grader.sandbox.windows_pipes import as_sockets

SOON = 60.0  # seconds: a busy machine takes long


class Worker:
    """The worker's ends of the three pipes, and the grader's channel to it."""

    def __init__(self, limit):
        self.requests, to_worker = os.pipe()
        from_worker, self.replies = os.pipe()
        log, self.output = os.pipe()
        self.ours = SimpleNamespace(to_worker=to_worker, from_worker=from_worker, log=log)
        self.channel = Channel(self.ours, limit, threading.Event())

    def reads(self, size):
        data = b""
        while len(data) < size:
            data += os.read(self.requests, size - len(data))
        return data

    def close(self):
        self.channel.close()
        for descriptor in (self.requests, self.replies, self.output, *vars(self.ours).values()):
            os.close(descriptor)


@pytest.fixture(params=["pipes", "sockets"])
def worker(request, monkeypatch):
    """Return a function that makes a worker, which may print `limit` bytes."""
    if request.param == "sockets":
        monkeypatch.setattr(channels, "_without_waiting", as_sockets)
        monkeypatch.setattr(channels, "LATE", 0.02)
    made = []

    def make(limit=1 << 20):
        made.append(Worker(limit))
        return made[-1]

    yield make
    for one in made:
        one.close()


def reply(worker, size):
    return worker.channel.read(size, time.monotonic() + SOON)


def test_what_was_printed_before_a_reply_is_there_after_it(worker):
    one = worker()
    os.write(one.output, b"before")
    os.write(one.replies, b"reply")
    assert reply(one, 5) == b"reply"
    one.channel.settle()
    assert one.channel.log == one.channel.recent == b"before"
    one.channel.forget_recent()
    os.write(one.output, b"after")
    one.channel.settle()
    assert (one.channel.log, one.channel.recent) == (b"beforeafter", b"after")


def test_a_worker_may_fill_all_three_pipes(worker):
    """It prints much and replies much before it has read a long request: no one waits for the other."""
    one = worker(limit=1 << 21)
    large = os.urandom(1 << 20)
    seen = []

    def hostile():
        rest = memoryview(large)
        while rest:  # a pipe holds 64 KiB
            rest = rest[os.write(one.output, rest[: 1 << 16]) :]
        rest = memoryview(large)
        while rest:
            rest = rest[os.write(one.replies, rest[: 1 << 16]) :]
        seen.append(one.reads(len(large)))
        os.write(one.replies, b"read")

    thread = threading.Thread(target=hostile)
    thread.start()
    one.channel.send(large)
    assert reply(one, len(large)) == large
    assert reply(one, 4) == b"read"
    thread.join()
    assert seen == [large]
    one.channel.settle()
    assert one.channel._printed == len(large)


def test_output_is_bounded_while_a_reply_is_awaited_and_while_settling(worker):
    one = worker(limit=10)
    os.write(one.output, b"x" * 11)
    with pytest.raises(TooMuchOutput, match="11 bytes"):
        reply(one, 1)
    other = worker(limit=10)
    os.write(other.output, b"x" * 11)
    with pytest.raises(TooMuchOutput, match="11 bytes"):
        other.channel.settle()


@pytest.mark.parametrize("end", ["requests", "replies"])
def test_a_closed_end_is_noticed(worker, end):
    one = worker()
    os.close(getattr(one, end))
    setattr(one, end, os.open(os.devnull, os.O_RDWR))
    one.channel.send(b"x" * 1_000_000)
    with pytest.raises(EOFError):
        reply(one, 1)


def test_a_closed_output_does_not_end_the_conversation(worker):
    one = worker()
    os.write(one.output, b"last")
    os.close(one.output)
    one.output = os.open(os.devnull, os.O_RDWR)
    assert within(SOON, lambda: one.channel.settle() or one.channel.log == b"last")
    os.write(one.replies, b"reply")
    assert reply(one, 5) == b"reply"
