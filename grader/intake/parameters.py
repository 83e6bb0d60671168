"""Read from the syntax tree which arguments functions and methods accept, and whether a definition has no code."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass

from grader.intake.names import Names
from grader.intake.read import Submission
from grader.intake.syntax import parse

MAX_BASES = 10  # base classes that are followed to find a method
# Base classes whose subclasses must define `forward`.
BARE_BASES = frozenset(
    {"nn.Module", "torch.nn.Module", "Module", "d2l.Module", "Encoder", "Decoder", "AttentionDecoder"}
    | {f"d2l.{name}" for name in ("Encoder", "Decoder", "AttentionDecoder")}
)


@dataclass(frozen=True)
class Signature:
    """The parameters of a function or method, without `self`.

    needed: parameters without a default. extra_args, extra_keywords: it has `*args`, `**kwargs`.
    text: the parameters with their defaults, without annotations.
    """

    positional: tuple[str, ...]
    needed: frozenset[str]
    keyword_only: frozenset[str]
    extra_args: bool
    extra_keywords: bool
    text: str

    @property
    def names(self) -> frozenset[str]:
        return self.keyword_only | set(self.positional)

    def accepts(self, count: int, keywords: Collection[str] = ()) -> bool:
        """Whether a call with `count` positional arguments and these keywords is possible."""
        by_position = set(self.positional[:count])
        if count > len(self.positional) and not self.extra_args:
            return False
        if by_position & set(keywords):
            return False
        if not set(keywords) <= self.names and not self.extra_keywords:
            return False
        return self.needed <= by_position | set(keywords)


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
            return None if method else _signature(node, skip=0)
        found = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == method]
        if found:
            return None if found[-1].decorator_list else _signature(found[-1], skip=1)
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
    forward = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "forward"]
    if isinstance(node, ast.ClassDef) and forward:
        return f"{name}.forward" if _is_bare(forward[-1]) else ""
    return name if _is_bare(node) and not _inherits_forward(submission, names, node) else ""


def _is_bare(node: ast.FunctionDef | ast.ClassDef) -> bool:
    return all(_says_nothing(statement) for statement in node.body)


def _inherits_forward(
    submission: Submission, names: Names, node: ast.FunctionDef | ast.ClassDef | None
) -> bool:
    """Whether a class may inherit `forward`: its base class is not known, or it or one of its bases defines it."""
    if isinstance(node, ast.FunctionDef):
        return False
    for _step in range(MAX_BASES):
        if not isinstance(node, ast.ClassDef) or len(node.bases) != 1:
            return True
        base = ast.unparse(node.bases[0])
        if base in BARE_BASES:
            return False
        node = _definition(submission, names, base)
        if node is None or any(
            isinstance(part, ast.FunctionDef) and part.name == "forward" for part in node.body
        ):
            return True
    return True


def _says_nothing(statement: ast.stmt) -> bool:
    """Whether a statement is `pass`, `raise NotImplementedError`, or a constant, such as a docstring or `...`."""
    if isinstance(statement, ast.Raise):
        raised = statement.exc.func if isinstance(statement.exc, ast.Call) else statement.exc
        return isinstance(raised, ast.Name) and raised.id == "NotImplementedError"
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(statement, ast.Pass) or isinstance(value, ast.Constant)


def _definition(submission: Submission, names: Names, name: str) -> ast.FunctionDef | ast.ClassDef | None:
    known = names.definitions.get(name)
    unit = next((u for u in submission.units if known is not None and u.name == known.unit), None)
    if known is None or unit is None:
        return None
    for node in ast.walk(parse(unit.source)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and (node.name, node.lineno) == (
            name,
            known.line,
        ):
            return node
    return None


def _signature(node: ast.FunctionDef, skip: int) -> Signature:
    found = node.args
    positional = [*found.posonlyargs, *found.args]
    without_default = positional[: len(positional) - len(found.defaults)][skip:]
    keyword_needed = [
        a for a, default in zip(found.kwonlyargs, found.kw_defaults, strict=True) if default is None
    ]
    return Signature(
        positional=tuple(a.arg for a in positional[skip:]),
        needed=frozenset(a.arg for a in (*without_default, *keyword_needed)),
        keyword_only=frozenset(a.arg for a in found.kwonlyargs),
        extra_args=found.vararg is not None,
        extra_keywords=found.kwarg is not None,
        text=_text(found, positional[:skip]),
    )


def _text(found: ast.arguments, left_out: list[ast.arg]) -> str:
    """Return the parameters with their defaults and without annotations."""
    plain = [ast.arg(a.arg) for a in (*found.posonlyargs, *found.args) if a not in left_out]
    shown = ast.arguments(
        posonlyargs=[],
        args=plain,
        vararg=found.vararg and ast.arg(found.vararg.arg),
        kwonlyargs=[ast.arg(a.arg) for a in found.kwonlyargs],
        kw_defaults=found.kw_defaults,
        kwarg=found.kwarg and ast.arg(found.kwarg.arg),
        defaults=found.defaults[-len(plain) :] if plain else [],
    )
    try:
        return ast.unparse(shown)
    except RecursionError:  # a default that is nested too deeply to write
        return ", ".join(a.arg for a in plain)
