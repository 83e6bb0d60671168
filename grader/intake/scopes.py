"""Names that no scope around them binds, and definitions that another one replaces unused, as pyflakes finds them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache

from pyflakes import messages
from pyflakes.checker import Assignment, Checker

from grader.intake.limits import count_tokens
from grader.intake.needs import IMPORTS
from grader.intake.read import Unit
from grader.intake.syntax import parse, walk

MOST = 20_000  # words and symbols of a submission that is checked: pyflakes takes quadratic time for some sources
# Names that the grader imports, and those that the kernel of a notebook binds.
_KNOWN = {*IMPORTS, "get_ipython", "display", "In", "Out", "exit", "quit"}

Place = tuple[str, int]  # unit and line


@lru_cache(maxsize=2)  # asked for by each exercise of a submission
def scopes(units: tuple[Unit, ...]) -> tuple[Sequence[tuple[Place, str]], Sequence[tuple[Place, str, Place]]]:
    """Return the places of undefined names, and the definitions that replace another one: the place of both.

    All units are checked as one source. Nothing is found in one that is too large or too deeply nested for pyflakes.
    """
    whole = "\n".join(unit.source for unit in units)
    if count_tokens(whole) > MOST:
        return (), ()
    try:
        tree = parse(whole)
        found = _Checker(tree, builtins=_KNOWN, withDoctest=False).messages
    except Exception:  # such as a RecursionError: what pyflakes cannot read is no mistake
        return (), ()
    places = [(unit.name, line + 1) for unit in units for line in range(unit.source.count("\n") + 1)]
    defined = [node for node in walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    plain = {node.lineno for node in defined if not node.decorator_list}  # a decorator may use what it gets
    undefined = [(m.lineno, *m.message_args) for m in found if isinstance(m, messages.UndefinedName)]
    replaced = [(m.lineno, *m.message_args) for m in found if isinstance(m, messages.RedefinedWhileUnused)]
    return (
        [(places[line - 1], name) for line, name in undefined],
        [(places[at - 1], name, places[old - 1]) for at, name, old in replaced if {at, old} <= plain],
    )


class _Checker(Checker):  # type: ignore[misc]
    def handleAnnotation(self, annotation: ast.AST, node: ast.AST) -> None:  # noqa: N802
        """Leave annotations out: Python may never evaluate them."""

    def TRY(self, node: ast.Try) -> None:  # noqa: N802
        """Look at `try` as at any statement: `except NameError` hides a misspelt name, and does not make it right."""
        self.handleChildren(node)

    def IMPORTFROM(self, node: ast.ImportFrom) -> None:  # noqa: N802
        """Bind the names only: pyflakes repeats the module's name, which may be long, for each of them."""
        for alias in node.names:
            self.addBinding(node, Assignment(alias.asname or alias.name, node))
