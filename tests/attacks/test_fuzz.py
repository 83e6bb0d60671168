"""What a worker sends, mutated a hundred thousand times: refused with the one exception there is for it, or
read exactly as the safetensors library reads it."""

from __future__ import annotations

import copy
import json
import random

import numpy as np
import pytest
import safetensors
import safetensors.numpy

from grader.bundle.safetensors import BadTensors, decode, encode
from grader.diagnosis.match import diagnose
from grader.judge.normalise import arranged
from grader.judge.observation import BadReply, read_observation, student_error
from grader.judge.trivial import is_trivial
from grader.judge.verdict import judge_case
from grader.report.formats import FORMS
from grader.report.model import ExerciseResult, Report

TENSORS = {
    "out": np.arange(6, dtype=np.float32).reshape(2, 3),
    "grad X": np.ones((1, 2), np.float64),
    "keep": np.array([True, False]),
    "n": np.array(3, np.int64),
    "none": np.zeros((0, 4), np.float16),
}
NUMBERS = [
    "",
    "0",
    "-0",
    "-1",
    "1.0",
    "1e3",
    "99",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "true",
    "null",
    '"1"',
    "[]",
]
LETTERS = b'0123456789,:[]{}"-.eEFUIB\\u \x00\xff\n'


def frames() -> list[bytes]:
    names = list(TENSORS)
    return [encode({n: TENSORS[n] for n in names[:count]}) for count in (1, 2, 5)]


def mutated(rng: random.Random, good: bytes) -> bytes:
    data = bytearray(good)
    head = int.from_bytes(data[:8], "little")
    how = rng.random()
    if how < 0.25:  # letters of the header
        for _ in range(rng.randrange(1, 4)):
            data[8 + rng.randrange(head)] = rng.choice(LETTERS)
    elif how < 0.5:  # a number of the header by another
        text = bytes(data[8 : 8 + head])
        places = [i for i, c in enumerate(text) if 48 <= c <= 57]
        at = rng.choice(places)
        text = text[:at] + rng.choice(NUMBERS).encode() + text[at + 1 :]
        if rng.random() < 0.5:  # keep its length honest
            data[:8] = len(text).to_bytes(8, "little")
        data[8 : 8 + head] = text
    elif how < 0.6:  # the length itself
        data[:8] = rng.choice(
            [0, 1, head - 1, head + 1, len(data), 1 << 31, (1 << 63) - 1, (1 << 64) - 1]
        ).to_bytes(8, "little")
    elif how < 0.7:
        del data[rng.randrange(len(data)) :]
    elif how < 0.8:
        at = rng.randrange(len(data) + 1)
        data[at:at] = rng.randbytes(rng.randrange(1, 9))
    elif how < 0.85:  # two pieces exchanged
        a, b = sorted(rng.randrange(len(data)) for _ in range(2))
        data = data[b:] + data[a:b] + data[:a]
    else:
        data[rng.randrange(8 + head, len(data))] ^= 1 << rng.randrange(8)  # the numbers themselves
    return bytes(data)


def test_a_hundred_thousand_mutated_frames_are_read_as_the_library_reads_them_or_refused():
    rng = random.Random(20)
    good = frames()
    read = stricter = 0
    for _ in range(100_000):
        data = mutated(rng, rng.choice(good))
        try:
            mine = decode(data)
        except BadTensors:
            stricter += 1
            continue
        theirs = safetensors.deserialize(
            data
        )  # raises where the library refuses: then we would be the laxer one
        read += 1
        assert {name for name, _ in theirs} == mine.keys(), data
        for name, fields in theirs:
            assert list(mine[name].shape) == fields["shape"], data
            if mine[name].dtype != bool:
                assert mine[name].tobytes() == bytes(fields["data"]), data
    assert read > 5_000, "some must be read for the comparison to mean anything"
    assert stricter > 50_000


# Values of every wrong kind, for every word of a reply.
ODD = [
    None, True, -1, 0, 10**30, 1.5, float("nan"), float("inf"), "", "x" * 5000, "\ud800\x1b[2J\u202e", [], {}, [[]], [None] * 700, {"is": 5},
    {"is": "\x1b"}, {"shape": [1, "2", None]}, {"": {"": []}}, [["a"], ["b", "c"], 5], {"file": [], "line": -5, "text": {}},
]  # fmt: skip


def confused(rng: random.Random, value: object) -> object:
    """The same words with one thing somewhere in them of another kind."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        return {
            **value,
            key: confused(rng, value[key]),
            **({str(rng.choice(ODD)): 1} if rng.random() < 0.1 else {}),
        }
    if isinstance(value, list) and value and rng.random() < 0.8:
        return [*value, confused(rng, value[0])]
    return copy.deepcopy(rng.choice(ODD))


def filled(rng: random.Random) -> np.ndarray:
    dtype = rng.choice(["f4", "f8", "i8", "?"])
    shape = rng.choice([(), (0,), (1,), (2, 3), (1, 1, 1), (0, 5, 2), (2, 2, 2, 2)])
    return np.full(shape, rng.choice([0, 1, np.nan, np.inf, -3e38] if dtype[0] == "f" else [0, 1]), dtype)


@pytest.mark.parametrize("name", ["sequence_mask", "masked_softmax", "MultiHeadAttention"])
def test_confused_replies_never_get_past_the_reader_as_anything_but_a_result(bundles, name):
    """Whatever stands where in a reply, there is a verdict and a report, and it is not a pass."""
    exercise = next(e for b in bundles for e in b.exercises if e.name == name)
    rng = random.Random(name)
    for _ in range(400):
        case = rng.choice(exercise.cases)
        words: object = {
            "odd": {n: {"is": "a tuple of 2", "shape": [1, 2]} for n in list(case.asked)[:2]},
            "error": {"type": "ValueError", "message": "m", "where": {"file": "a.py", "line": 3, "text": "x"}, "step": "call"},
            "parameters": {
                "missing": ["W_q.weight"], "unexpected": ["a"], "misshapen": [], "shared": [["a", "b"]], "layout": "", "shapes": {"a": [1, 2]},
            },
            "values": dict.fromkeys(case.asked, 1),
            "warnings": ["w"], "stacked": ["weights"], "used": ["x"],
        }  # fmt: skip
        for _ in range(rng.randrange(1, 4)):
            words = confused(rng, words)
        words = json.loads(json.dumps(words))
        if not isinstance(words, dict):
            continue
        body = b""
        if rng.random() < 0.5:
            arrays = {n: filled(rng) for n in case.asked}
            body = encode(arrays)
        try:
            observation = arranged(
                read_observation(words, body, case.asked, 0.1, frozenset({"a.py"})), case.steps
            )
        except BadReply:
            continue
        for hidden in (False, True):
            checks = judge_case(case, observation, hidden=hidden, device="cpu")
            assert not all(check.outcome == "passed" for check in checks)
        observations = {case.id: observation}
        is_trivial([(case, observation)])
        result = ExerciseResult(
            name,
            "a",
            "failed",
            0.0,
            1.0,
            checks=tuple(checks),
            diagnosis=diagnose(exercise, observations, checks),
        )
        for form in FORMS.values():
            form(Report((result,), "basic", "", "")).encode()


@pytest.mark.parametrize("value", ODD)
def test_no_word_of_an_exception_is_believed_to_be_text(value):
    for words in (
        value,
        {"type": value, "message": value, "where": value, "step": value},
        {"where": {"file": value, "line": value, "text": value}},
    ):
        error = student_error(words)
        assert error is None or all(isinstance(text, str) for text in (error.type, error.message, error.step))
