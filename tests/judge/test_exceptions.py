"""A report quotes the message of an exception and may add advice. Some exceptions get a sentence instead."""

import pytest

from grader.judge.exceptions import of_error, of_lost
from grader.judge.observation import StudentError
from grader.report.finding import PUBLIC


def sentence(type: str, message: str, near: str = "") -> str:
    return PUBLIC.sentence(of_error(StudentError(type, message, None, "call", near)))


NUMPY = "Can't call numpy() on Tensor that requires grad."
MEMORY = (
    "DefaultCPUAllocator: can't allocate memory: you tried to allocate 4398046511104 bytes. Error code 12"
)


@pytest.mark.parametrize(
    ("type", "message", "advice"),
    [
        ("ValueError", "too large", ""),
        (
            "ModuleNotFoundError",
            "No module named 'mine'",
            ". If `mine` is a file of yours, put it beside this one.",
        ),
    ],
)
def test_advice_follows_the_message(type, message, advice):
    assert sentence(type, message) == f"raised {type}: {message}{advice}"


@pytest.mark.parametrize(
    ("type", "message", "says"),
    [
        ("KeyboardInterrupt", "", "raised KeyboardInterrupt"),
        ("BdbQuit", "", "the code starts a debugger: remove `breakpoint` or `set_trace`"),
        ("SystemExit", "0", "the code ends Python: remove `exit`, `quit` or `sys.exit`"),
        ("SystemExit", "", "the code ends Python: remove `exit`, `quit` or `sys.exit`"),
        (
            "NameError",
            "name 'exit' is not defined",
            "the code ends Python: remove `exit`, `quit` or `sys.exit`",
        ),
        ("RuntimeError", MEMORY, "out of memory: the code asked for 4,096.0 GiB at once"),
    ],
)
def test_some_exceptions_get_a_sentence_of_their_own(type, message, says):
    assert sentence(type, message) == says


def test_advice_of_torch_to_detach_is_left_out():
    text = sentence("RuntimeError", f"{NUMPY} Use tensor.detach().numpy() instead.")
    assert "detach" not in text


def test_the_most_similar_attribute_is_suggested():
    text = sentence("AttributeError", "'Tensor' object has no attribute 'tranpose'", "transpose")
    assert text.endswith("has no attribute 'tranpose'. Did you mean `transpose`?")


@pytest.mark.parametrize("why", ["time", "output", "reply", "stale", "fault", "died"])
def test_each_way_to_lose_a_worker_has_a_sentence(why):
    assert PUBLIC.sentence(of_lost(why, "")).startswith(("stopped", "the worker"))
    assert "137" in PUBLIC.sentence(of_lost(why, "137"))
