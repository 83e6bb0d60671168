"""The mark that `settle` writes into the pipe of the output is no output, also if it arrives in two parts."""

import os
import threading
from types import SimpleNamespace

from helpers.waiting import within

from grader.sandbox.channel import Channel


def test_a_mark_in_two_parts_is_removed():
    requests, to_worker = os.pipe()
    from_worker, replies = os.pipe()
    log, log_writer = os.pipe()
    ends = SimpleNamespace(to_worker=to_worker, from_worker=from_worker, log=log, log_writer=log_writer)
    channel = Channel(ends, 1 << 10, threading.Event())
    os.write(log_writer, b"before" + channel._mark[:5])
    assert within(60, lambda: channel.log == b"before")
    os.write(log_writer, channel._mark[5:] + b"after")
    assert within(60, lambda: channel.log == channel.recent == b"beforeafter")
    channel.settle()
    channel.close()
    for descriptor in (requests, to_worker, from_worker, replies, log, log_writer):
        os.close(descriptor)
