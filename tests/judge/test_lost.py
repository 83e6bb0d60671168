"""A case that lost its worker gets one sentence: what happened, and a detail if there is one."""

from __future__ import annotations

import pytest

from grader.judge.lost import lost_message


@pytest.mark.parametrize(
    ("why", "detail", "sentence"),
    [
        ("time", "4", "stopped after 4 seconds; is there a loop that never ends?"),
        ("time", "", "stopped: time limit exceeded"),
        ("output", "1 MiB", "stopped: too much output (1 MiB)"),
        ("reply", "", "stopped: the worker process sent an invalid result"),
        ("stale", "", "stopped: the worker process sent an invalid result"),
        ("fault", "KeyError", "the worker failed twice while it ran your code (KeyError)"),
        ("died", "signal 9", "the worker process ended twice while it ran your code (signal 9)"),
    ],
)
def test_each_way_to_lose_a_worker_has_a_sentence(why, detail, sentence):
    assert lost_message(why, detail) == sentence
