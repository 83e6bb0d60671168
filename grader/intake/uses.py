"""What the definitions of a file use: each other, names that the file never binds, and calls that an exercise forbids."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache

from grader.intake.names import Names, read_names, statements_on
from grader.intake.read import Submission, Unit, trees
from grader.intake.syntax import MAX_DOTTED_NAMES

# Customary names that files often use without their import.
IMPORTS = {
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "Variable": "from torch.autograd import Variable",
    "math": "import math",
    "np": "import numpy as np",
    "d2l": "from d2l import torch as d2l",
    "plt": "from matplotlib import pyplot as plt",
}
UNIT = "added imports"  # the name of the unit with the missing imports
_ROOT = "torch"  # of the paths of all calls that an exercise forbids
# Characters that are kept of a module's name, and of each name that is imported from it. The path of each imported name
# repeats the module's name, so long names would take much memory.
_MAX_PATH = 400
_BIND_NAME = (
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
    ast.ExceptHandler,
    ast.MatchAs,
    ast.MatchStar,
)


# ---- names that nothing binds


def missing_imports(submission: Submission, blocks: Iterable[str]) -> dict[str, str]:
    """Return name → its import, for customary names and `blocks` that a submission uses and binds nowhere.

    Return {} if the submission has `import *`, because that may bind any name.
    """
    unbound = _unbound(submission.units)
    offered = IMPORTS | {block: f"from grader.given import {block}" for block in blocks}
    return {name: line for name, line in offered.items() if name in unbound}


def first_use(submission: Submission, name: str) -> tuple[str, int]:
    """Return the unit and the line where a submission first uses a name that it binds nowhere."""
    return _unbound(submission.units)[name]


def units_to_run(submission: Submission, blocks: Iterable[str] = ()) -> tuple[Unit, ...]:
    """Return the units of a submission, after one that imports the missing names if there are any."""
    lines = missing_imports(submission, blocks).values()
    return (Unit(UNIT, "\n".join(lines)), *submission.units) if lines else submission.units


@lru_cache(maxsize=8)
def _unbound(units: tuple[Unit, ...]) -> dict[str, tuple[str, int]]:
    """Return name → the unit and the line of its first use, for names that nothing binds; {} if there is `import *`."""
    used: dict[str, tuple[str, int]] = {}
    bound: set[str] = set()
    for unit, tree in trees(units):
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                first, line = used.setdefault(node.id, (unit, node.lineno))
                if first == unit and node.lineno < line:  # `ast.walk` does not follow the lines
                    used[node.id] = (first, node.lineno)
            else:
                bound.update(bound_by(node))
    return {} if "*" in bound else {name: place for name, place in used.items() if name not in bound}


def bound_by(node: ast.AST) -> list[str]:
    """Return the names that one node binds, in any scope; "*" for `import *`."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        case ast.Name(name, ast.Store() | ast.Del()) | ast.arg(name) | ast.MatchMapping(rest=str(name)):
            return [name]
    return [node.name] if isinstance(node, _BIND_NAME) and node.name else []


# ---- what a definition uses


_Statement = tuple[str, ast.stmt]  # with the name of its unit


def needs(names: Names, name: str) -> frozenset[str]:
    """Return `name`, the names that its definition uses, those that the definitions of these use, and so on."""
    return frozenset(_reached(names, name)[0])


def _reached(names: Names, name: str) -> tuple[set[str], list[_Statement]]:
    """Follow a name to the statements that define it, to the names that these use, and so on. Return both."""
    # A line may define many names, and its statements are needed once.
    statements = dict(statements_on(names.units))
    found, waiting, reached = {name}, [name], list[_Statement]()
    while waiting:
        known = names.definitions.get(waiting.pop())
        for statement in statements.pop((known.unit, known.line), ()) if known else ():
            reached.append(statement)
            new = dict.fromkeys(used for used in _free(statement[1]) if used not in found)
            found |= new.keys()
            waiting += new
    return found, reached


def _free(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node uses, without parameters and local variables of functions."""
    waiting: list[tuple[ast.AST, frozenset[str]]] = [(node, frozenset())]
    while waiting:
        part, own = waiting.pop()
        inner, body = own, set[ast.AST]()
        if isinstance(part, ast.Name) and part.id not in own:
            yield part.id
        elif isinstance(part, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            body = {*part.body} if isinstance(part.body, list) else {part.body}
            nodes = [*ast.walk(part)]
            inner = own | {name for inside in nodes for name in bound_by(inside)}
            inner -= {name for inside in nodes if isinstance(inside, ast.Global) for name in inside.names}
        # Decorators, defaults and annotations are outside the body.
        waiting += [(child, inner if child in body else own) for child in ast.iter_child_nodes(part)]


# ---- calls that an exercise forbids


@dataclass(frozen=True)
class Use:
    """A use of a forbidden call. `call` is spelled as in `forbids` of the exercise."""

    call: str
    unit: str
    line: int


def uses(submission: Submission, name: str, forbids: Sequence[str]) -> list[Use]:
    """Return the calls of `forbids` in the definition of `name` and in what it uses, each with one place.

    This is a hint for a person, not a proof. To compare an answer with `nn.MultiheadAttention` in another cell is good
    practice.
    """
    # The last names, of which a text must contain one up to its `*`: "Transformer*" of "nn.Transformer*".
    patterns = {call: call.rpartition(".")[2] for call in forbids}
    words = [pattern.partition("*")[0] for pattern in patterns.values()]
    if not any(word in unit.source for word in words for unit in submission.units):
        return []
    aliases = _aliases(submission.units)
    found: dict[str, Use] = {}
    for unit, statement in _reached(read_names(submission), name)[1]:
        for part in ast.walk(statement):
            root, *rest = _path(part, aliases)
            for call, pattern in patterns.items() if root == _ROOT else ():
                if isinstance(part, ast.expr) and any(fnmatchcase(word, pattern) for word in rest):
                    found.setdefault(call, Use(call, unit, part.lineno))
    return list(found.values())


@lru_cache(maxsize=2)  # asked for by each exercise of a submission
def _aliases(units: tuple[Unit, ...]) -> Mapping[str, str]:
    """Return name → dotted path for imported names."""
    nodes = (node for _unit, tree in trees(units) for node in ast.walk(tree))
    return {name: path for node in nodes for name, path in _imported(node)}


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield local name → dotted path for the names that an import binds."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            package = alias.name.partition(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (package, package)
    elif isinstance(node, ast.ImportFrom) and node.module:
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module[:_MAX_PATH]}.{alias.name[:_MAX_PATH]}"


def _path(node: ast.AST, aliases: Mapping[str, str]) -> list[str]:
    """Return the names in the path of `F.softmax`, `getattr(nn, "Linear")` or an imported name; [""] for other code."""
    names: list[str] = []
    while not isinstance(node, ast.Name) and len(names) < MAX_DOTTED_NAMES:
        match node:
            case ast.Attribute(below, name) | ast.Call(
                ast.Name("getattr"), [below, ast.Constant(str(name)), *_]
            ):
                names.append(name)
                node = below
            case _:
                return [""]
    root = aliases.get(node.id, "") if isinstance(node, ast.Name) else ""
    return [*root.split("."), *reversed(names)]
