"""The pages beside the lessons: every block of Python runs, and the results that its comments name are true."""

import ast
import contextlib
import io
import re
import sys

import pytest
import torch
from helpers.command_line import ROOT

from grader.authoring.content import read_all

PAGES = {
    f"{a.name}/{name}": (a, text.decode())
    for a in read_all(ROOT / "solutions")
    for name, text in a.pages.items()
}
BLOCK = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?", re.M | re.S)
# Results: "(2, 3)", "(2, 3): [[1, 2, 3], [4, 5, 6]]", "[1.5, 2]", "-3", "True", "'a'", "RuntimeError". After "; " is a remark.
SHAPE, RAISES = re.compile(r"(\(\d*(?:, \d+)*,?\))(?:: (.+))?$"), re.compile(r"[A-Z]\w+Error$")
VALUE = re.compile(r"[\[{'\"\d-]|(?:True|False|None)\b")


def comments(code: str) -> dict[int, str]:
    """Return the comments after code by their lines, counted from 1, without remarks."""
    lines = enumerate(code.splitlines(), 1)
    return {n: line.partition("  # ")[2].partition("; ")[0] for n, line in lines if "  # " in line}


def is_result(comment: str) -> bool:
    return any(form.match(comment) for form in (SHAPE, VALUE, RAISES))


def plain(value: object) -> object:
    """Return a value as its text in a comment is read: tensors as lists, shapes as tuples."""
    if isinstance(value, torch.Tensor):
        return value.tolist()
    return tuple(value) if isinstance(value, torch.Size) else value


def equal(value: object, said: object, digits: int) -> bool:
    """Compare; numbers may differ by half a unit of the last digit that is said."""
    if isinstance(said, (list, tuple)) and isinstance(value, (list, tuple)):
        return len(value) == len(said) and all(equal(*pair, digits) for pair in zip(value, said, strict=True))
    if isinstance(said, float) or isinstance(value, float):
        return abs(value - said) <= 0.5001 * 10**-digits
    return type(value) is type(said) and value == said


def false(said: str, value: object) -> bool:
    """Return whether a comment says a result that the value is not. Other comments are never false."""
    if shape := SHAPE.match(said):
        wanted = ast.literal_eval(shape[1])
        if tuple(value if isinstance(value, (torch.Size, tuple)) else value.shape) != wanted:
            return True
        said = shape[2] or ""
    if not VALUE.match(said):
        return False
    digits = max((len(number) for number in re.findall(r"\.(\d+)", said)), default=0)
    return not equal(plain(value), ast.literal_eval(said), digits)


def run(code: str, space: dict[str, object]) -> list[str]:
    """Run a block in a namespace and return its comments that are false. Raises what it raises, unless it says so."""
    says, body = comments(code), ast.parse(code).body
    ends = {node.end_lineno for node in body}  # a result elsewhere, as in a loop, would not be read
    untrue = [said for line, said in says.items() if line not in ends and is_result(said)]
    for node in body:
        said = says.get(node.end_lineno or 0, "")
        text = ast.get_source_segment(code, node)
        try:
            is_value = isinstance(node, ast.Expr)
            value = eval(text, space) if is_value else exec(text, space)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                value = space[node.targets[0].id]
        except Exception as error:
            if type(error).__name__ != said:
                raise
        else:
            if RAISES.match(said) or false(said, value):
                untrue.append(said)
    return untrue


@pytest.mark.parametrize("name", PAGES)
def test_the_code_of_a_page_runs_and_its_results_are_true(name, monkeypatch, tmp_path):
    assignment, text = PAGES[name]
    monkeypatch.syspath_prepend(assignment.folder)  # a page may import the module beside it
    monkeypatch.chdir(tmp_path)
    blocks, space = BLOCK.findall(text), {"__name__": "page"}
    assert len(blocks) == text.count("```python") > 3
    for code, output in blocks:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            assert run(code, space) == []
        assert not output or printed.getvalue() == output
    sys.modules.pop(assignment.module, None)
    assert sum(is_result(comment) for code, _ in blocks for comment in comments(code).values()) >= 10


@pytest.mark.parametrize(
    ("code", "untrue"),
    [
        ("torch.ones(2, 3)  # (2, 3)\ntorch.ones(2, 3).shape  # (2, 3)\nx = torch.ones(())  # ()", []),
        ("x = torch.ones(3, 2)  # (2, 3)", ["(2, 3)"]),
        ("torch.ones(2)  # (2,): [1, 2]", ["(2,): [1, 2]"]),
        ("torch.tensor([0.126])  # [0.13]\nmax(\n    1, 2\n)  # 2", []),
        ("torch.tensor([0.126])  # [0.12]", ["[0.12]"]),
        ("1 == 1.0  # False; they are", ["False"]),
        ("int('a')  # ValueError; no number\nint('1')  # ValueError", ["ValueError"]),
        ("int('1')  # any other comment", []),
        ("for i in range(2):\n    i + 1  # 2", ["2"]),
    ],
)
def test_a_false_comment_is_found(code, untrue):
    assert run(code, {"torch": torch}) == untrue


@pytest.mark.parametrize("name", PAGES)
def test_a_page_has_short_lines_and_its_lesson_links_it(name):
    assignment, text = PAGES[name]
    assert max(map(len, text.splitlines())) <= 78
    assert f"]({name.split('/')[1]})" in assignment.source
