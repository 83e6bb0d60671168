"""What the definitions of a file use: each other, names that the file never binds, and calls that an exercise forbids."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property, lru_cache

from grader.intake.names import Names, nodes_of, read_names
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
# Characters that are kept of a module's name, and of each name that is imported from it. The path of each imported name
# repeats the module's name, so long names would take much memory.
_MAX_PATH = 400
_DEFINES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_BIND_NAME = _DEFINES | ast.ExceptHandler | ast.MatchAs | ast.MatchStar


# ---- names that nothing binds


@dataclass
class Bindings:
    """What the code of a file reads and binds, in any scope."""

    own: Mapping[str, ast.stmt]  # its top-level classes and functions
    # Name → the unit and the line of its first use.
    read: dict[str, tuple[str, int]] = field(default_factory=dict)
    # Name → what binds it: the path of an import, such as "torch.nn", otherwise "". "*" is for `import *`.
    bound: dict[str, list[str]] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)  # that are set
    variables: set[str] = field(default_factory=set)  # that top-level assignments set

    @property
    def unbound(self) -> dict[str, tuple[str, int]]:
        """Name → its first use, for names that nothing binds; {} if there is `import *`."""
        return {} if "*" in self.bound else {n: at for n, at in self.read.items() if n not in self.bound}

    @cached_property
    def torch_nn(self) -> bool:
        """Whether `nn` can only be torch.nn."""
        return {*self.bound.get("nn", ("torch.nn",))} == {"torch.nn"}


@lru_cache(maxsize=4)
def bindings(units: tuple[Unit, ...]) -> Bindings:
    """Return what the code of a file reads and binds."""
    nodes = {name: node for name, (_unit, node) in nodes_of(units).items()}
    kinds = ast.ClassDef | ast.FunctionDef
    found = Bindings({name: node for name, node in nodes.items() if isinstance(node, kinds)})
    for unit, tree in trees(units):
        assigned = (part for one in tree.body if isinstance(one, ast.Assign) for part in ast.walk(one))
        found.variables.update(name for part in assigned for name in bound_by(part))
        read: dict[str, int] = {}  # `ast.walk` does not follow the lines
        for node in ast.walk(tree):
            match node:
                case ast.Name(name, ast.Load()):
                    read[name] = min(node.lineno, read.get(name, node.lineno))
                case ast.Attribute(_, name, context):
                    if not isinstance(context, ast.Load):
                        found.attributes.add(name)
                case ast.expr_context() | ast.Constant():
                    pass
                case _:
                    paths = dict(_imported(node))
                    for name in bound_by(node):
                        found.bound.setdefault(name, []).append(paths.get(name, ""))
        found.read = {name: (unit, line) for name, line in read.items()} | found.read
    return found


def missing_imports(submission: Submission, blocks: Iterable[str]) -> dict[str, str]:
    """Return name → its import, for customary names and `blocks` that a submission uses and binds nowhere.

    Return {} if the submission has `import *`, because that may bind any name.
    """
    unbound = bindings(submission.units).unbound
    offered = IMPORTS | {block: f"from grader.given import {block}" for block in blocks}
    return {name: line for name, line in offered.items() if name in unbound}


def units_to_run(submission: Submission, blocks: Iterable[str] = ()) -> tuple[Unit, ...]:
    """Return the units of a submission, after one that imports the missing names if there are any."""
    lines = missing_imports(submission, blocks).values()
    return (Unit(UNIT, "\n".join(lines)), *submission.units) if lines else submission.units


def bound_by(node: ast.AST) -> list[str]:
    """Return the names that one node binds, in any scope; "*" for `import *`."""
    match node:
        case ast.Import() | ast.ImportFrom():
            return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
        case ast.Name(name, ast.Store() | ast.Del()) | ast.arg(name) | ast.MatchMapping(rest=str(name)):
            return [name]
    return [node.name] if isinstance(node, _BIND_NAME) and node.name else []


# ---- what a definition uses


def needs(names: Names, name: str) -> frozenset[str]:
    """Return `name`, the names that its definition uses, those that the definitions of these use, and so on."""
    return frozenset(_reached(names, name)[0])


def _reached(names: Names, name: str) -> tuple[set[str], dict[ast.stmt, str]]:
    """Return the names that a name needs, see `needs`, and the statements that define them, with their units."""
    nodes, found, waiting, reached = nodes_of(names.units), {name}, [name], dict[ast.stmt, str]()
    while waiting:
        unit, statement = nodes.get(waiting.pop(), ("", None))
        if statement is not None and statement not in reached:  # it may define many names
            reached[statement] = unit
            new = [used for used in dict.fromkeys(_free(statement)) if used not in found]
            found.update(new)
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
    known = bindings(submission.units).bound
    found: dict[str, Use] = {}
    for statement, unit in _reached(read_names(submission), name)[1].items():
        for part in ast.walk(statement):
            root, *rest = _path(part, known)
            for call, pattern in patterns.items() if root == "torch" else ():
                if isinstance(part, ast.expr) and any(fnmatchcase(word, pattern) for word in rest):
                    found.setdefault(call, Use(call, unit, part.lineno))
    return list(found.values())


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield the name that an import binds, and its dotted path."""
    match node:
        case ast.Import(names):
            for alias in names:
                package = alias.name.partition(".")[0]
                yield (alias.asname, alias.name) if alias.asname else (package, package)
        case ast.ImportFrom(module, names, level):
            stem = "." * level + (module or "")[:_MAX_PATH]
            yield from ((alias.asname or alias.name, f"{stem}.{alias.name[:_MAX_PATH]}") for alias in names)


def _path(node: ast.AST, bound: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names in the path of `F.softmax`, `getattr(nn, "Linear")` or an imported name; [""] for other code."""
    names: list[str] = []
    while len(names) < MAX_DOTTED_NAMES:
        match node:
            case ast.Attribute(below, name):
                names.insert(0, name)
            case ast.Call(ast.Name("getattr"), [below, ast.Constant(str(name)), *_]):
                names.insert(0, name)
            case ast.Name(name):
                return [*next(filter(None, reversed(bound.get(name, ()))), "").split("."), *names]
            case _:
                break
        node = below
    return [""]
