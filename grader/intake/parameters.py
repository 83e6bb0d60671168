"""Find the signature that calls of a definition meet, and definitions without code, in the syntax tree."""

from __future__ import annotations

import ast

from grader.intake.names import Names, Signature, method_of, signature_of
from grader.intake.read import Submission
from grader.intake.syntax import parse

MAX_BASES = 10  # base classes that are followed to find a method
# Base classes whose subclasses must define `forward`.
BARE_BASES = frozenset(
    {"nn.Module", "torch.nn.Module", "Module", "d2l.Module", "Encoder", "Decoder", "AttentionDecoder"}
    | {f"d2l.{name}" for name in ("Encoder", "Decoder", "AttentionDecoder")}
)


def signature(submission: Submission, names: Names, name: str, method: str = "") -> Signature | None:
    """Return the signature of a function, or of a method that a class or a base class in the same file defines.

    Return None if the text does not decide it, for example because of a decorator, several base classes, a base class
    from elsewhere, or a name that is assigned.
    """
    for _step in range(MAX_BASES):
        node = _definition(submission, names, name)
        if node is None or node.decorator_list:
            return None
        if isinstance(node, ast.FunctionDef):
            return None if method else signature_of(node, skip=0)
        if found := method_of(node, method):
            return None if found.decorator_list else signature_of(found, skip=1)
        if len(node.bases) != 1 or not isinstance(node.bases[0], ast.Name) or node.bases[0].id == name:
            return None
        name = node.bases[0].id
    return None


def without_code(submission: Submission, names: Names, name: str) -> str:
    """Return the function, class or `forward` of a class that has no statement besides a docstring, `...`, `pass` or
    `raise NotImplementedError`; "" if it has one.

    A class without code must also inherit no `forward`: its base class is one of BARE_BASES, or a class of this file
    of which the same is true.
    """
    node = _definition(submission, names, name)
    if node is None:
        return ""
    if forward := method_of(node, "forward"):
        return f"{name}.forward" if _is_bare(forward) else ""
    return name if _is_bare(node) and not _may_inherit_forward(submission, names, node) else ""


def _is_bare(node: ast.FunctionDef | ast.ClassDef) -> bool:
    for statement in node.body:
        match statement:
            case ast.Pass() | ast.Expr(ast.Constant()):
                continue
            case ast.Raise(ast.Name("NotImplementedError") | ast.Call(ast.Name("NotImplementedError"))):
                continue
        return False
    return True


def _may_inherit_forward(submission: Submission, names: Names, node: ast.stmt | None) -> bool:
    """Also True if a base class is not known."""
    if isinstance(node, ast.FunctionDef):
        return False
    for _step in range(MAX_BASES):
        if not isinstance(node, ast.ClassDef) or len(node.bases) != 1:
            return True
        base = ast.unparse(node.bases[0])
        if base in BARE_BASES:
            return False
        node = _definition(submission, names, base)
        if node is None or method_of(node, "forward"):
            return True
    return True


def _definition(submission: Submission, names: Names, name: str) -> ast.FunctionDef | ast.ClassDef | None:
    known = names.definitions.get(name)
    unit = next((u for u in submission.units if known is not None and u.name == known.unit), None)
    if known is None or unit is None:
        return None
    nodes = (n for n in ast.walk(parse(unit.source)) if isinstance(n, (ast.FunctionDef, ast.ClassDef)))
    return next((node for node in nodes if (node.name, node.lineno) == (name, known.line)), None)
