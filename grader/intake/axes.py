"""How many axes a function needs its parameters to have, as its first statements show."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_ALWAYS = (ast.Assign, ast.AnnAssign, ast.Expr, ast.Return)
_SHOWS = (ast.Assign, ast.Call)
_SOMETIMES = (ast.IfExp, ast.BoolOp, ast.Lambda, ast.comprehension)


def axes_needed(function: ast.FunctionDef) -> dict[str, int]:
    """Return parameter → the number of axes that it must have: it is unpacked, permuted or transposed so.

    Only statements that always run count, and of these only those before the name gets another value.
    """
    arguments = function.args
    free = {a.arg for a in (*arguments.posonlyargs, *arguments.args)}
    found: dict[str, int] = {}
    for statement in function.body:
        parts = list(ast.walk(statement))
        if isinstance(statement, _ALWAYS) and not any(isinstance(part, _SOMETIMES) for part in parts):
            for name, axes in (shown for part in parts if isinstance(part, _SHOWS) for shown in _shown(part)):
                if name in free:
                    found.setdefault(name, axes)
        free -= {part.id for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}
    return found


def _shown(node: ast.AST) -> Iterator[tuple[str, int]]:
    match node:
        case ast.Assign(
            [ast.Tuple(parts)],
            ast.Attribute(ast.Name(name), "shape") | ast.Call(ast.Attribute(ast.Name(name), "size"), []),
        ):
            pass
        case ast.Call(ast.Attribute(ast.Name(name), "permute"), parts):
            pass
        case ast.Call(
            ast.Attribute(ast.Name(name), "transpose"), [ast.Constant(int(a)), ast.Constant(int(b))]
        ):
            parts = [node] * (max(a, b) + 1)
        case _:
            return
    if not any(isinstance(part, ast.Starred) for part in parts) and len(parts) > 1:
        yield name, len(parts)
