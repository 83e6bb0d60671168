"""Every regular expression that may read a student's text takes linear time: ten times the text, ten times the time.

Each pattern reads long texts: a piece of the pattern, then many times one of its characters, then an end that it does
not expect.
"""

import ast
import re
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import islice, product
from typing import Any

import pytest
from helpers.command_line import ROOT

METHODS = ("compile", "search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split")
ENDS = ("", "\n", "\0", "`", "x")
SHORT, LONG = 600, 6000  # characters
FACTOR = 40  # LONG may take this many times as long as SHORT; 10 if it is linear, 100 if it is quadratic
SOON = 0.005  # CPU seconds; a time below it is not compared. Reading LONG takes a tenth of it in linear time.

Expression = tuple[str, int, str]  # the pattern, its flags, and the method that reads text with it


def expressions(source: str, space: dict[str, Any]) -> Iterator[Expression]:
    """Yield the patterns that a module passes to `re`; none that a function makes of its own names.

    space: the names of the module.
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
            if ast.unparse(node.func.value) != "re":
                continue
            flags = [k.value for k in node.keywords if k.arg == "flags"] + [
                a for a in node.args[1:] if "re." in ast.unparse(a)
            ]
            try:
                pattern, *known = (eval(ast.unparse(part), space) for part in (node.args[0], *flags))
            except NameError:
                continue
            for method in used(tree, node) if node.func.attr == "compile" else {node.func.attr}:
                yield pattern, sum(known), method if method in ("match", "fullmatch") else "search"


def used(tree: ast.Module, call: ast.Call) -> set[str]:
    """Return the methods that a module calls on a compiled pattern: any method if the pattern has no name."""
    names = {t.id for n in tree.body if isinstance(n, ast.Assign) and n.value is call for t in n.targets}  # type: ignore[attr-defined]
    called = {n.func for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Attribute)}
    return {c.attr for c in called if getattr(c.value, "id", "") in names and c.attr in METHODS} or {"search"}


def hard_texts(pattern: str) -> Iterator[Callable[[int], str]]:
    """Yield functions of a length: a piece of the pattern, then one of its characters repeated, then an end."""
    pieces = dict.fromkeys(("", *re.findall(r"[^\\\[\](){}.*+?^$|:=!<>]+", pattern)))
    units = dict.fromkeys(" \t0a" + "".join(pieces))
    for before, unit, end in product(pieces, units, ENDS):
        yield lambda length, before=before, unit=unit, end=end: before + unit * length + end  # type: ignore[misc]


def seconds(read: Callable[[str], Any], text: str) -> float:
    began = time.process_time()
    read(text)
    return time.process_time() - began


def is_slow(expression: Expression, make: Callable[[int], str]) -> bool:
    """Whether the time grows much faster than the text."""
    pattern, flags, method = expression
    read = getattr(re.compile(pattern, flags), method)
    for _attempt in range(3):  # the machine may be busy
        long = seconds(read, make(LONG))
        if long < SOON or long < FACTOR * seconds(read, make(SHORT)):
            return False
    return True


def slow(source: str, space: dict[str, Any]) -> list[tuple[str, str]]:
    """Return each slow pattern of a module with the first text that is hard for it, in short."""
    found = []
    for expression in dict.fromkeys(expressions(source, space)):
        hard = (make(20) for make in hard_texts(expression[0]) if is_slow(expression, make))
        found += [(expression[0], text) for text in islice(hard, 1)]
    return found


OF_AUTHORS = ("authoring", "release")  # packages that read texts of authors only
FILES = [
    path
    for path in sorted((ROOT / "grader").rglob("*.py"))
    if path.relative_to(ROOT).parts[1] not in OF_AUTHORS
    and re.search(r"\bre\.\w+\(", path.read_text("utf-8"))
]


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT / "grader").as_posix())
def test_every_pattern_of_a_module_takes_linear_time(path):
    module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    assert slow(path.read_text("utf-8"), vars(module)) == []


@pytest.mark.parametrize(
    "call",
    [
        r"re.match(r'(?P<mark>~{3,})(?P<info>[^`\n]*)$', text)",
        r"re.match(r'#@tab\s+([^\n]*)\n', text)",
        r"re.sub(r'\s+$', '', text)",
        r"re.findall(r'\d+(?=\.)', text)",
    ],
)
def test_a_pattern_that_takes_quadratic_time_is_found(call):
    assert slow(f"{call}\n", {"re": re})
