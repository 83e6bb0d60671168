"""The code of a source before a syntax error and after it, and the definitions that are lost."""

import pytest

from grader.intake.syntax import around_error, defined_in


@pytest.mark.parametrize(
    ("before", "rest"),
    [
        ("def f():\n    return 1\n\n", "y = = 2\nz = 3"),
        ("def f():\n    return 1\n", "def g():\n    a = 1\n    b = = 2\n    return a"),
        ("x = 1", "def g(x):\nreturn x\ny = 2"),
        ("x = 1", "class A\n    y = 1"),
        ("x = 1\ny = 2", "  z = 3"),
        ("x = 1", "def g(x):\n    y = 1\n      z = 2\n    return x"),
        ("x = 1", "@decorated\nclass A:\n    y = = 1"),
        ("x = 1", "y = [\n1,\n2 3,\n4]"),
        ("x = 1", "y = f(1,\nz = 2\nw = 3"),
        ("x = 1", "y = '''text\nnever ends\n"),
        ("x = 1", "try:\n    y = 1\nexcept E\n    z = 1"),
        ("x = 1", "if x:\n    y = 1\nelse\n    z = 1"),
        ("x = 1", "class A：\n    y = 1"),
        ("if x:\n    y = 1\nelse:\n    y = 2", "print 'a'"),
        ("", "y = = 1\nx = 1"),
    ],
)
def test_without_a_later_definition_code_after_an_error_is_lost(before, rest):
    source, fault = around_error(f"{before}\n{rest}" if before else rest, "a.py")
    assert source == before
    assert fault is not None
    assert fault.lost == defined_in(rest)


def test_a_fault_names_the_lost_definitions():
    source = "def f(): ...\n\nclass A(B)：\n   def g(self): ...\n\n def h(x): ...\ndef i（x）: ..."
    _kept, fault = around_error(source, "a.py")
    assert (fault.line, fault.lost) == (3, ("A", "h", "i"))
    assert fault.sentence().startswith("a.py, line 3 has a syntax error: invalid character")
    assert fault.sentence().endswith("; the rest of this file, cell or block was skipped")


def test_many_statements_in_an_open_bracket_take_few_attempts():
    # After MAX_ATTEMPTS, `around_error` would give up and keep nothing.
    assert around_error("x = 1\ny = [\n" + "1,\n" * 10_000 + "1 2\n]", "a.py")[0] == "x = 1"


AFTER = "def g(x):\n    return x\n"


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ("def f(x)\n    return x\n\n\n", 5),
        ("def f(x):\n    return (x\n\n\n", 5),
        ("def f(x):\n\treturn x\n    x = 1\n", 4),
        ("x = = 1\n", 2),
    ],
)
def test_only_the_statement_with_the_error_is_lost(broken, line):
    source, fault = around_error(broken + AFTER, "a.py")
    assert source.endswith(AFTER)
    assert fault.resumed == line
    assert source.split("\n")[line - 1] == "def g(x):"
    assert "g" not in fault.lost
    assert fault.sentence().endswith(f"; the code before it and from line {line} on was graded")


def test_two_errors_leave_the_code_before_the_first():
    source, fault = around_error("a = 1\ndef f(x)\n    pass\n\ndef g(x)\n    pass\n", "a.py")
    assert (source.strip(), fault.resumed) == ("a = 1", 0)


@pytest.mark.parametrize(
    ("source", "caret"),
    [
        ("def f(x)\n    return x", "def f(x)\n        ^"),
        ("def f(x):\n\ty = = 1", "y = = 1\n    ^"),
        ("名 = = 1", "名 = = 1\n     ^"),
        ("if x:\n    y = 1\n\tz = 2", "z = 2"),  # the place in the line is unknown
        ("x = " + "1 + " * 60 + "= 2", ""),  # the line is too long
    ],
)
def test_the_caret_is_below_the_error(source, caret):
    _kept, fault = around_error(source, "a.py")
    assert fault.caret == caret
    assert fault.with_code == (f"{fault.why}\n{caret}" if caret else fault.why)
