"""Names that nothing binds and definitions that are replaced, as pyflakes finds them; names that are nearly right."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from difflib import get_close_matches
from functools import lru_cache

from pyflakes import messages
from pyflakes.checker import Assignment, Checker

from grader.intake.names import plain, signature_of
from grader.intake.read import Submission, Unit
from grader.intake.syntax import check_sources, dotted, parse
from grader.intake.uses import IMPORTS, Bindings, bound_by
from grader.support.i18n import _

NEAR = 0.8  # how similar a name has to be to be offered instead
MAX_UNKNOWN = 50  # unknown names that are looked up; the cost is this times MAX_NAMES
MAX_NAMES = 1000  # names to choose from
MOST = 20_000  # words and symbols of a submission that is checked: pyflakes takes quadratic time for some sources
# Names that the grader imports, and those that the kernel of a notebook binds.
_KNOWN = {*IMPORTS, "get_ipython", "display", "In", "Out", "exit", "quit"}

Found = Iterator[tuple[int, str]]  # line and sentence
_Place = tuple[str, int]  # unit and line


def of_scopes(submission: Submission, unit: str, node: ast.stmt, code: Bindings) -> Found:
    """Report names in a definition that nothing binds, and a definition there that another one replaces unused."""
    # Names that the definition binds or the file defines are right somewhere.
    own, unknown = {name for part in ast.walk(node) for name in bound_by(part)} | code.own.keys(), set()
    for (file, line), name, before in _scopes(submission.units):
        is_inside = file == unit and node.lineno <= line <= (node.end_lineno or node.lineno)
        if is_inside and before is None and name not in own and "*" not in code.bound:
            unknown.add((line, name))
        # The code of a kernel is in no file: there, the second definition may be a newer try.
        elif is_inside and before and submission.path.suffix:
            place = _("{file}, line {line}").format(file=before[0], line=before[1])
            says = _("{name} is defined twice; the last one counts, the other is at {place}")
            yield line, says.format(name=name, place=place)
    for line, name, meant in nearest(unknown, own):
        yield line, _("nothing is called `{name}`; did you mean `{near}`?").format(name=name, near=meant)


@lru_cache(maxsize=2)  # asked for by each exercise of a submission
def _scopes(units: tuple[Unit, ...]) -> list[tuple[_Place, str, _Place | None]]:
    """Return the places of undefined names, and of definitions that replace another one, with the place of that one.

    All units are checked as one source. Nothing is found in one that is too large or too deeply nested for pyflakes.
    """
    whole = "\n".join(unit.source for unit in units)
    try:
        if check_sources([whole]) > MOST:
            return []
        tree = parse(whole)
        found = _Checker(tree, builtins=_KNOWN, withDoctest=False).messages
    except Exception:  # such as a RecursionError: what pyflakes cannot read is no mistake
        return []
    places = [(unit.name, line + 1) for unit in units for line in range(unit.source.count("\n") + 1)]
    defined = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    plain = {node.lineno for node in defined if not node.decorator_list}  # a decorator may use what it gets
    out: list[tuple[_Place, str, _Place | None]] = []
    for one in found:
        match one:
            case messages.UndefinedName(message_args=[name]):
                out.append((places[one.lineno - 1], name, None))
            case messages.RedefinedWhileUnused(message_args=[name, before]) if {one.lineno, before} <= plain:
                out.append((places[one.lineno - 1], name, places[before - 1]))
    return out


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


METHODS = ["permute", "transpose", "masked_fill", "contiguous", "reshape", "repeat_interleave", "unsqueeze", "squeeze", "softmax", "flatten", "append", "register_buffer"]  # fmt: skip
# Functions and layers of torch that answers often call → their parameters.
_PARAMETERS = {
    "softmax": "input dim dtype",
    "Softmax": "dim",
    "sum mean": "input dim keepdim dtype axis keepdims",
    "max argmax": "input dim keepdim axis keepdims",
    "cat": "tensors dim out axis",
    "stack": "tensors dim out",
    "repeat_interleave": "input repeats dim output_size",
    "unsqueeze squeeze": "input dim",
    "masked_fill": "input mask value",
    "triu tril": "input diagonal",
    "Dropout": "p inplace",
    "Linear": "in_features out_features bias device dtype",
    "LayerNorm": "normalized_shape eps elementwise_affine bias device dtype",
}
_KEYWORDS = {name: row.split() for names, row in _PARAMETERS.items() for name in names.split()}


def misspellings(name: str) -> set[str]:
    """Return a name without one of its characters, and with two neighbours of them swapped."""
    pairs = [(name[:at], name[at:]) for at in range(len(name))]
    return {a + b[1:] for a, b in pairs} | {a + b[1::-1] + b[2:] for a, b in pairs} - {name}


_METHOD_OF = {wrong: method for method in METHODS for wrong in misspellings(method)}


def methods(node: ast.Attribute, code: Bindings) -> Found:
    """Report a method that is nearly one of METHODS, unless the file sets it."""
    meant, is_set = _METHOD_OF.get(node.attr, ""), node.attr in code.attributes or node.attr in code.bound
    if meant and not is_set and dotted(node.value) not in ("nn", "self"):
        says = _("there is no `.{name}`; did you mean `.{near}`?")
        yield node.lineno, says.format(name=node.attr, near=meant)


def keywords(call: ast.Call, code: Bindings) -> Found:
    """Report each keyword that looks like a misspelt parameter of a function of torch."""
    *owner, function = dotted(call.func).split(".")
    right = _KEYWORDS.get(function, []) if {*owner} & {"torch", "nn", "F", "functional"} else []
    for keyword in call.keywords:
        name = keyword.arg or ""
        meant = [k for k in right if name in misspellings(k)] or [near(name, right)]
        if len(meant) == 1 and meant[0] and name not in right:
            says = _("`{function}` has no parameter `{name}`; did you mean `{near}`?")
            yield keyword.value.lineno, says.format(function=function, name=name, near=meant[0])


def variables_of_the_file(function: ast.FunctionDef, code: Bindings) -> Found:
    """Report each variable of the file that a function reads instead of a parameter with a similar name."""
    parameters = signature_of(function, skip=0).names
    parts = [part for part in ast.walk(function) if isinstance(part, ast.Name)]
    own = parameters | {part.id for part in parts if not isinstance(part.ctx, ast.Load)}
    read = {(part.lineno, part.id) for part in parts if part.id in code.variables - own}
    for line, name, meant in nearest(read, parameters):
        says = _("`{name}` is a variable of the file; did you mean the parameter `{near}`?")
        yield line, says.format(name=name, near=meant)


def nearest(unknown: Collection[tuple[int, str]], names: Collection[str]) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the unknown name and the similar name; nothing if there are more than MAX_NAMES known names.

    unknown: pairs of a line and a name; at most MAX_UNKNOWN of them are looked at.
    """
    if len(names) > MAX_NAMES:
        return
    for line, name in sorted(unknown)[:MAX_UNKNOWN]:
        if meant := near(name, names):
            yield line, name, meant


def near(name: str, names: Iterable[str]) -> str:
    """Return the only name that differs in case and underscores, else the only similar one; "" for one or two letters."""
    same = [other for other in names if plain(other) == plain(name)]
    found = same or get_close_matches(name[:100], sorted(names), n=2, cutoff=NEAR)
    return found[0] if len(found) == 1 and len(name) > 2 else ""
