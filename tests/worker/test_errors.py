"""The report of an exception has the student's own line, whatever the exception is."""

import linecache

import pytest
import torch

from grader.worker.errors import MAX_TEXT, definition, describe


def raised(source, call="f()"):
    """Return the description of the exception that the source raises; if it raises none, of that of the call."""
    names = {}
    linecache.cache["a.py"] = (len(source), None, source.splitlines(True), "a.py")
    try:
        exec(compile(source, "a.py", "exec"), names)
        eval(compile(call, "<us>", "eval"), names)
    except BaseException as error:
        return describe(error, {"a.py"})
    raise AssertionError("nothing was raised")


def test_the_innermost_line_of_the_submission_is_reported():
    described = raised(
        "import torch\ndef g(x):\n    return torch.bmm(x, x)\ndef f():\n    return g(torch.ones(2))\n"
    )
    where = {"file": "a.py", "line": 3, "text": "return torch.bmm(x, x)", "in": "g", "shapes": {"x": [2]}}
    assert described["where"] == where
    assert described["type"] == "RuntimeError"
    endless = raised("def f():\n    return f()\n")
    assert (endless["type"], endless["where"]["line"]) == ("RecursionError", 2)
    assert raised("def f(x): return x", "f()")["where"] is None


def test_an_attribute_of_modules_is_not_asked_of_a_class_that_is_none():
    described = raised("class A:\n    def forward(self): ...", "A().named_parameters()")
    assert (described["type"], described["message"]) == ("TypeError", "A is no nn.Module")
    own_code = "class A:\n    def forward(self):\n        return self.train()"
    assert raised(own_code, "A().forward()")["message"] == "'A' object has no attribute 'train'"
    assert raised("class A: ...", "A().named_parameters()")["type"] == "AttributeError"


def test_bad_syntax_is_reported_with_its_line():
    described = raised("x = 1\n  y = 2\n")
    assert described["type"] == "IndentationError"
    assert (described["where"]["line"], described["where"]["text"]) == (2, "y = 2")


def test_long_messages_are_cut():
    assert len(raised("def f():\n    raise ValueError('x' * 10_000)\n")["message"]) == MAX_TEXT


@pytest.mark.parametrize(
    "body",
    [
        "raise type('E', (Exception,), {'__str__': lambda self: 1 / 0})()",
        "raise type('E', (Exception,), {'__str__': lambda self: 5})()",
        "raise type('E', (Exception,), {'__str__': lambda self: exit()})()",
        "raise SyntaxError('x', ([], 'y', 3, 7))",
        "raise SyntaxError('x', ('a.py', 'y', 3, 7))",
        "raise SyntaxError(5)",
        "raise Exception('\\ud800\\x1b')",
        "raise SystemExit",
        "raise BaseException",
        "raise type('x' * 1000, (Exception,), {})()",
    ],
)
def test_unusual_exceptions_are_reported(body):
    described = raised(f"def f():\n    {body}\n")
    assert isinstance(described["message"], str)
    assert len(described["type"]) <= 100


def test_only_functions_of_the_submission_have_a_location():
    source = "import torch\n\ndef f(x):\n    return x\n"
    linecache.cache["a.py"] = (len(source), None, source.splitlines(True), "a.py")
    names = {}
    exec(compile(source, "a.py", "exec"), names)
    assert definition(names["f"], {"a.py"}) == {"file": "a.py", "line": 3, "text": "def f(x):"}
    for other in (names["f"], print, torch.nn.Linear, None):
        assert definition(other, {"b.py"}) is None


@pytest.mark.parametrize(
    ("expression", "near"),
    [
        ("torch.ones(2).tranpose(0, 1)", "transpose"),
        ("torch.ones(2).maskfill", "masked_fill"),
        ("torch.nn.Linear(1, 1).wieght", "weight"),
        ("torch.sofmax", "softmax"),
        ("torch.ones(2).nothing_like_it", None),
    ],
)
def test_the_nearest_attribute_of_the_object_is_reported(expression, near):
    assert raised(f"import torch\ndef f():\n    return {expression}\n").get("near") == near


def test_an_object_whose_dir_raises_gets_no_nearest_attribute():
    source = (
        "class A:\n    def __dir__(self):\n        raise ValueError\ndef f():\n    return A().something\n"
    )
    assert "near" not in raised(source)
