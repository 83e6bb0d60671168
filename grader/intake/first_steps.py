"""Find slips of beginners: code that waits for the keyboard, an endless loop, a function that returns nothing."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from grader.intake.syntax import children, dotted, walk
from grader.support.i18n import _

_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit"})
_CHANGING = (ast.Call, ast.Attribute, ast.Subscript, ast.NamedExpr, ast.Await)
_LEAVING = (ast.Break, ast.Return, ast.Raise, ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal)
_NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def first_steps(definition: ast.stmt, bound: Collection[str]) -> Iterator[tuple[int, str]]:
    """Yield the line and the sentence of each slip. bound: the names that the submission binds itself."""
    for node in walk(definition):
        if isinstance(node, ast.Call):
            called = dotted(node.func)
            if called == "input" and "input" not in bound:
                says = _("the grader gives no keyboard input; use the arguments instead of `input()`")
                yield node.lineno, says
            elif called == "breakpoint" or called in ("pdb.set_trace", "ipdb.set_trace"):
                yield node.lineno, _("remove `{call}()` before you run the check").format(call=called)
        elif isinstance(node, ast.While) and (names := _unchanged(node)):
            says = _("nothing in this `while` loop changes {names}")
            yield node.lineno, says.format(names=", ".join(f"`{name}`" for name in names))
    functions = [definition] if isinstance(definition, ast.FunctionDef) else []
    if isinstance(definition, ast.ClassDef):
        functions = [p for p in definition.body if isinstance(p, ast.FunctionDef) and p.name == "forward"]
    for function in functions:
        if not _gives_a_value(function):
            says = _("{name} returns no value; did you forget `return`?")
            yield function.lineno, says.format(name=function.name)


def _unchanged(loop: ast.While) -> list[str]:
    """Return the names in the condition if the body can neither change them nor leave the loop; else [].

    Also [] if the condition has a call, an attribute or an index: its value may change without the names.
    """
    parts = list(walk(loop.test))
    names = sorted({part.id for part in parts if isinstance(part, ast.Name)})
    if any(isinstance(part, _CHANGING) for part in parts):
        return []
    for part in (part for statement in loop.body for part in walk(statement)):
        if isinstance(part, _LEAVING):
            return []
        if any(isinstance(used, ast.Name) and used.id in names for used in _touched(part)):
            return []
    return names


def _touched(node: ast.AST) -> list[ast.AST]:
    """Return the nodes whose values the given node may change.

    These are a name that it binds, an object whose attribute or item it uses, and the arguments of a call.
    """
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node]
    if isinstance(node, ast.Attribute | ast.Subscript):
        return [node.value]
    if isinstance(node, ast.Call):
        return [*node.args, *(keyword.value for keyword in node.keywords)]
    return []


def _gives_a_value(function: ast.FunctionDef) -> bool:
    """Whether a function can return or yield a value, raises, or ends Python. Functions inside it do not count."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Raise)):
            return True
        if isinstance(node, ast.Call) and dotted(node.func) in _EXITS:
            return True
        if isinstance(node, ast.Return) and node.value is not None:
            return True
        if not isinstance(node, _NESTED):
            waiting += children(node)
    return False
