"""Sources as syntax trees. The trees of the last sources are cached: several readers ask for the same one."""

from __future__ import annotations

import ast
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from functools import cache
from threading import Lock

from rich.cells import cell_len

from grader.intake.limits import MAX_TOKENS, check_sources
from grader.support.i18n import _

MAX_CODE = 120  # characters of a line that is shown with a caret
# Fields without nodes, or with operators and contexts only. Skipping them halves the time to walk a tree.
_SKIPPED = frozenset(
    ("ctx", "op", "ops", "id", "attr", "kind", "type_comment", "level", "module", "conversion", "simple")
)


def parse(source: str) -> ast.Module:
    """Return the syntax tree of a source. It is cached: do not change it.

    Raises SyntaxError, and nothing else. Its `lineno` is None if the line is not known.
    """
    return _trees.get(source)


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it, without operators and contexts, in no particular order.

    Takes half of the time of `ast.walk`.
    """
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += children(node)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right below a node, without operators and contexts."""
    out: list[ast.AST] = []
    for name in _fields(type(node)):  # type: ignore[arg-type]
        value = getattr(node, name, None)
        if type(value) is list:
            if value:
                out += [item for item in value if isinstance(item, ast.AST)]
        elif isinstance(value, ast.AST):
            out.append(value)
    return out


@cache
def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name not in _SKIPPED)


def dotted(node: ast.expr) -> str:
    """Return a name, or names joined by dots such as "nn.Linear"; "" for any other expression."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


class _Trees:
    """A cache of syntax trees. Together, their sources have at most MAX_TOKENS words and symbols."""

    def __init__(self) -> None:
        self._trees: OrderedDict[str, tuple[int, ast.Module]] = OrderedDict()
        self._cost = 0
        self._lock = Lock()

    def get(self, source: str) -> ast.Module:
        with self._lock:
            if source in self._trees:
                self._trees.move_to_end(source)
                return self._trees[source][1]
        tree, tokens = _parsed(source)
        cost = max(tokens, len(source) // 10)  # blank text costs as well
        with self._lock:
            if source not in self._trees:
                self._trees[source] = cost, tree
                self._cost += cost
            while self._cost > MAX_TOKENS:
                _oldest, (freed, _tree) = self._trees.popitem(last=False)
                self._cost -= freed
        return tree


_trees = _Trees()


def _parsed(source: str) -> tuple[ast.Module, int]:
    try:
        tokens = check_sources([source])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about a string such as "\d"
            return ast.parse(source), tokens
    except UnicodeEncodeError:
        raise SyntaxError(_("contains a character that is not valid Unicode")) from None
    except (RecursionError, MemoryError):
        raise SyntaxError(_("too deeply nested to read")) from None
    except ValueError as error:  # it is beyond a limit, or raised by the parser
        raise SyntaxError(str(error)) from None


def caret(error: SyntaxError) -> str:
    """Return the line of code, and a caret below the place of the error.

    Return the line alone if the error is in its indentation; "" if the line is not known or too long.
    """
    code = (error.text or "").rstrip().replace("\t", " ")
    indent = len(code) - len(code.lstrip())
    column = (error.offset or 0) - 1 - indent
    if not code or len(code) > MAX_CODE:
        return ""
    if not 0 <= column <= len(code) - indent:  # the error is in the indentation
        return code[indent:]
    return f"{code[indent:]}\n{' ' * cell_len(code[indent : indent + column])}^"
