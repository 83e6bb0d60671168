"""The words of a statement: its names, calls, constants and operators, each alone and with the expression around it.

A bundle holds the words of the statements that a known mistake changes. The statement of a student that shares most
words with them is likely to be the faulty one. A word is stored as a hash of 16 bits. Many words have the same hash,
so a hash does not say for certain which word it was.
"""

from __future__ import annotations

import ast
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

Words = frozenset[int]
BITS = 16  # of a word
MASK = (1 << BITS) - 1


def words_by_line(tree: ast.AST, names: Mapping[str, str] | None = None) -> dict[int, Words]:
    """Return first line → words, for every statement except docstrings and calls of `print`.

    The words of statements inside a statement count only for the inner ones. names: the labels of the names
    in functions around the tree, see `_names`.
    """
    labels = dict(names or {})
    found: dict[int, Words] = {}
    match tree:
        case ast.Expr(ast.Constant()) | ast.Expr(ast.Call(ast.Name("print"))):
            return found
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            labels |= _names(tree)
    if isinstance(tree, ast.stmt):
        found[tree.lineno] = frozenset(zlib.crc32(word.encode()) & MASK for word in _words(tree, labels))
    for part in ast.iter_child_nodes(tree):
        if isinstance(part, (ast.stmt, ast.ExceptHandler, ast.match_case)):
            found |= words_by_line(part, labels)
    return found


def changed_words(wrong: str, right: str) -> tuple[int, ...]:
    """Return the words of the statements that only one of two sources has; `statements` takes them apart again."""
    before, after = (_texts(source) for source in (wrong, right))
    only = [words for _text, words in (*(before - after), *(after - before))]
    return tuple(sorted({number << BITS | word for number, words in enumerate(only) for word in words}))


def statements(changed: Iterable[int]) -> list[Words]:
    """Return the words of each statement in the result of `changed_words`."""
    found: dict[int, set[int]] = {}
    for one in changed:
        found.setdefault(one >> BITS, set()).add(one & MASK)
    return [frozenset(words) for words in found.values()]


@lru_cache(maxsize=4)  # one source is compared with many
def _texts(source: str) -> Counter[tuple[str, Words]]:
    """Count the statements of a source, each as the text of its first line and its words."""
    tree = ast.parse(source)
    texts = {one.lineno: ast.unparse(one) for one in ast.walk(tree) if isinstance(one, ast.stmt)}
    return Counter((texts[line].split("\n")[0], words) for line, words in words_by_line(tree).items())


def _names(function: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, str]:
    """Name → label. Students choose names: a parameter gets its position, and every local name gets the same label."""
    arguments = function.args
    parameters = [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    places = {name: f"parameter {place}" for place, name in enumerate(parameters) if name != "self"}
    return dict.fromkeys(stored, "local name") | places


def _words(statement: ast.stmt, names: Mapping[str, str]) -> Iterator[str]:
    waiting = [(type(statement).__name__, part) for part in _inner(statement)]
    yield type(statement).__name__
    while waiting:
        outer, node = waiting.pop()
        label = _label(node)
        if isinstance(node, (ast.Name, ast.arg)):
            label = names.get(label, label)
        yield from (label, f"{outer}>{label}")
        waiting += [(label, part) for part in _inner(node)]


def _inner(node: ast.AST) -> list[ast.AST]:
    """Return the expressions right below a node; for a call, its arguments and the object of a method."""
    if isinstance(node, ast.Call) and isinstance(node.func, (ast.Attribute, ast.Name)):
        owner = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [*owner, *node.args, *node.keywords]
    kinds = (ast.expr, ast.keyword, ast.arg, ast.arguments, ast.comprehension, ast.withitem)
    return [part for part in ast.iter_child_nodes(node) if isinstance(part, kinds)]


def _label(node: ast.AST) -> str:
    match node:
        case ast.Call(func=called):
            return f"{_label(called)}()"
        case ast.Compare(ops=[operator, *_]):
            return type(operator).__name__
        case ast.BinOp(op=operator) | ast.UnaryOp(op=operator) | ast.BoolOp(op=operator):
            return type(operator).__name__
        case ast.Constant(value=value):
            return repr(value)
        case ast.Attribute(attr=name):
            return name.rstrip("_")
    return str(getattr(node, "id", None) or getattr(node, "arg", None) or type(node).__name__)
