"""A report quotes the message of an exception and may add advice. Some exceptions get a sentence instead."""

from __future__ import annotations

import pytest

from grader.judge.exceptions import lost_message, raised
from grader.judge.observation import StudentError


def sentence(type: str, message: str, near: str = "") -> str:
    return raised(StudentError(type, message, None, "call", near))


@pytest.mark.parametrize(
    ("type", "message", "advice"),
    [
        (
            "ModuleNotFoundError",
            "No module named 'mine'",
            "If `mine` is a file of yours, put it beside this one.",
        ),
        ("RecursionError", "maximum recursion depth exceeded", "A function calls itself without end."),
        ("TypeError", "'NoneType' object is not subscriptable", "A value is None here."),
        ("TypeError", "unsupported operand type(s) for *: 'int' and 'NoneType'", "A value is None here."),
        (
            "RuntimeError",
            "Boolean value of Tensor with more than one value is ambiguous",
            "`if`, `and`, `or` and `not` need a single value.",
        ),
    ],
)
def test_advice_follows_the_message(type, message, advice):
    assert sentence(type, message) == f"raised {type}: {message}. {advice}"


def test_an_exception_without_advice_is_quoted_alone():
    assert sentence("ValueError", "too large") == "raised ValueError: too large"
    assert sentence("KeyboardInterrupt", "") == "raised KeyboardInterrupt"


def test_the_advice_about_a_debugger_is_to_remove_it():
    assert sentence("BdbQuit", "") == "the code starts a debugger: remove `breakpoint` or `set_trace`"


@pytest.mark.parametrize(
    ("type", "message"),
    [("SystemExit", "0"), ("NameError", "name 'exit' is not defined"), ("SystemExit", "")],
)
def test_the_advice_about_code_that_ends_python_is_to_remove_it(type, message):
    assert sentence(type, message) == "the code ends Python: remove `exit`, `quit` or `sys.exit`"


def test_advice_of_torch_to_detach_is_left_out():
    text = sentence(
        "RuntimeError",
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    )
    assert "detach" not in text
    assert "NumPy computes no gradients: use functions of torch." in text


def test_requested_memory_is_reported_in_gib():
    text = sentence(
        "RuntimeError",
        "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to"
        " allocate 4398046511104 bytes. Error code 12 (Cannot allocate memory)",
    )
    assert text == "out of memory: the code asked for 4,096.0 GiB at once"


def test_the_most_similar_attribute_is_suggested():
    text = sentence("AttributeError", "'Tensor' object has no attribute 'tranpose'", "transpose")
    assert text.endswith("has no attribute 'tranpose'. Did you mean `transpose`?")


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
