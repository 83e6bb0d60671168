"""Every regular expression that may read a student's text takes linear time: ten times the text, ten times the time.

Each pattern reads long texts that fit it up to one of its repetitions, then repeat what is
repeated there, and end in a character that it does not expect.
"""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from itertools import islice, product
from pathlib import Path
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
METHODS = ("compile", "search", "match", "fullmatch", "sub", "subn", "findall", "finditer", "split")
REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
CLASSES = {"CATEGORY_SPACE": " \t\n", "CATEGORY_DIGIT": "0", "CATEGORY_WORD": "a0_"}
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


def hard_texts(pattern: str, flags: int) -> Iterator[Callable[[int], str]]:
    """Yield functions of a length, each with another text on which a pattern may take long."""
    tree = parser.parse(pattern, flags)
    for before, body in dict.fromkeys((before, tuple(examples(body))) for before, body in repeats(tree, "")):
        units = {text for text in body if text}
        if len(units) <= 6:
            units |= {a + b for a, b in product(units, units)}
        for unit, end in product(sorted(units), ENDS):
            yield partial(text_of, before, unit, end)


def text_of(before: str, unit: str, end: str, length: int) -> str:
    return before + unit * (length // len(unit)) + end


def parts(code: Any, value: Any) -> Sequence[Any]:
    """Return the patterns inside a piece of a pattern."""
    if code in REPEATS:
        return [value[2]]
    if code is op.SUBPATTERN:
        return [value[3]]
    if code is op.BRANCH:
        return list(value[1])
    if code is op.ATOMIC_GROUP:
        return [value]
    return [value[1]] if code in (op.ASSERT, op.ASSERT_NOT) else []


def repeats(tree: Any, before: str) -> Iterator[tuple[str, Any]]:
    """Yield a text that fits what is before each repetition, and what the repetition repeats."""
    for code, value in tree:
        if code in REPEATS and value[1] > 20:
            yield before, value[2]
        for part in parts(code, value):
            yield from repeats(part, before)
        if code not in (op.ASSERT, op.ASSERT_NOT):
            before += next(iter(examples([(code, value)])), "")


def examples(tree: Any) -> list[str]:
    """Return short texts that fit a pattern, one for each choice that a class or a branch gives."""
    found = [""]
    for code, value in tree:
        found = [text + more for text in found[:8] for more in dict.fromkeys(of_one(code, value))]
    return found


def of_one(code: Any, value: Any) -> list[str]:
    if code is op.LITERAL:
        return [chr(value)]
    if code is op.IN:
        if value[0][0] is op.NEGATE:
            return [c for c in " \ta.#'=_0" if c not in {chr(v) for k, v in value if k is op.LITERAL}]
        return [text for item in value for text in of_one(*item)]
    if code is op.RANGE:
        return [chr(value[0])]
    if code is op.CATEGORY:
        return list(CLASSES.get(str(value), "a ."))
    if code in (op.ANY, op.NOT_LITERAL):
        return ["a", " "]
    if code in REPEATS:
        return [text * max(value[0], 1) for text in examples(value[2])]
    if code in (op.SUBPATTERN, op.BRANCH, op.ATOMIC_GROUP):
        return [text for part in parts(code, value) for text in examples(part)]
    return [""]


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
        hard = (make(20) for make in hard_texts(*expression[:2]) if is_slow(expression, make))
        found += [(expression[0], text) for text in islice(hard, 1)]
    return found


OF_AUTHORS = ("authoring", "release")  # packages that read texts of authors only
FILES = [
    path
    for path in sorted((ROOT / "grader").rglob("*.py"))
    if path.relative_to(ROOT).parts[1] not in OF_AUTHORS
    and re.search(r"\bre\.\w+\(", path.read_text("utf-8"))
]


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
