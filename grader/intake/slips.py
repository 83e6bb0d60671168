"""Find slips in the syntax tree of a definition: code that raises, that never runs, or that is surely not meant.

A slip is reported only if it is certain. A name that may come from another file is no slip.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache

from grader.given import BLOCKS
from grader.intake.misspelt import Found, keywords, methods, of_scopes, variables_of_the_file
from grader.intake.read import Submission, Unit, trees
from grader.intake.syntax import dotted
from grader.intake.uses import bound_by
from grader.support.i18n import _

MAX_SLIPS = 3

_MODULES = frozenset({"nn.Module", "torch.nn.Module", "d2l.Module"})
# Misspellings of `__init__`.
_CONSTRUCTORS = frozenset(
    ["init__", "_init_", "__init", "__init_", "_init__", "__int__", "__inti__", "__ini__"]
)
_LAYERS = [
    "Linear",
    "Dropout",
    "LayerNorm",
    "Embedding",
    "ModuleList",
    "Sequential",
    "Softmax",
    "ReLU",
    "GELU",
    "GRU",
    "LSTM",
    "Module",
    "functional",
    "Identity",
    "ParameterList",
    "ModuleDict",
    "Conv1d",
    "BatchNorm1d",
]
# A class that uses one of these may register the layers of a list.
_REGISTERS = frozenset(
    [
        "ModuleList",
        "Sequential",
        "ModuleDict",
        "setattr",
        "__dict__",
        "__getattr__",
        "__setattr__",
        "add_module",
        "register_module",
        "save_hyperparameters",
    ]
)
_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit"})
_DEBUGGERS = frozenset({"breakpoint", "pdb.set_trace", "ipdb.set_trace"})


@dataclass(frozen=True)
class Slip:
    """A slip as a sentence, with its place."""

    unit: str
    line: int
    says: str


def slips(submission: Submission, name: str) -> list[Slip]:
    """Return the slips in the definition of a name, by line; at most MAX_SLIPS."""
    code = _code(submission.units)
    if name not in code.definitions:
        return []
    unit, node = code.definitions[name]
    own = {bound for part in ast.walk(node) for bound in bound_by(part)} | set(code.definitions)
    found = [*_of_definition(node, code), *of_scopes(submission, unit, node, own, "*" in code.bound)]
    slips = dict.fromkeys(Slip(unit, line, says) for line, says in found)
    return sorted(slips, key=lambda slip: slip.line)[:MAX_SLIPS]


@dataclass
class _Code:
    definitions: dict[str, tuple[str, ast.stmt]] = field(default_factory=dict)  # name → its last definition
    bound: set[str] = field(default_factory=set)  # anywhere
    attributes: set[str] = field(default_factory=set)  # that are set anywhere; also what is bound
    variables: set[str] = field(default_factory=set)  # that top-level assignments set
    torch_nn: bool = True  # `nn` can only be torch.nn


@lru_cache(maxsize=2)
def _code(units: tuple[Unit, ...]) -> _Code:
    code = _Code()
    for unit, tree in trees(units):
        for statement in tree.body:
            if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
                code.definitions[statement.name] = (unit, statement)
            elif isinstance(statement, ast.Assign):
                code.variables.update(name for part in ast.walk(statement) for name in bound_by(part))
        for node in ast.walk(tree):
            code.bound.update(bound_by(node))
            code.torch_nn = code.torch_nn and not _is_other_nn(node)
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
                code.attributes.add(node.attr)
    code.attributes |= code.bound
    return code


def _is_other_nn(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom) and node.module == "torch":
        return any(alias.asname == "nn" and alias.name != "nn" for alias in node.names)
    if isinstance(node, ast.Import):
        return any((alias.asname or alias.name) == "nn" and alias.name != "torch.nn" for alias in node.names)
    return "nn" in bound_by(node)


def _of_definition(node: ast.stmt, code: _Code) -> Found:
    functions = [node] if isinstance(node, ast.FunctionDef) else []
    if isinstance(node, ast.ClassDef):
        yield from _of_class(node, code)
        functions = [p for p in node.body if isinstance(p, ast.FunctionDef) and p.name == "forward"]
    for function in functions:
        if not _gives_a_value(function):
            says = _("{name} returns no value; did you forget `return`?")
            yield function.lineno, says.format(name=function.name)
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            yield from keywords(part)
        yield from _of_node(part, code)


def _of_node(node: ast.AST, code: _Code) -> Found:
    match node:
        case ast.Expr(ast.Attribute(ast.Call(ast.Name("super")), "__init__")):
            yield node.lineno, _("`super().__init__` is not called; add `()`")
        case ast.Attribute(ast.Call(ast.Name("super"), [_one]), "__init__"):
            yield node.lineno, _("`super` has only one argument; write `super().__init__()`")
        case ast.Attribute(ast.Name("super"), name):
            says = _("`super.{name}` has no brackets; write `super().{name}`")
            yield node.lineno, says.format(name=name)
        case ast.Attribute(ast.Call(ast.Name("super")), name) if name in _CONSTRUCTORS:
            says = _("`super().{name}` does not exist; write `super().__init__`")
            yield node.lineno, says.format(name=name)
        case ast.Attribute():
            yield from methods(node, code.attributes)
        case ast.Call(called, [_first, *_], [_named, *_]) if code.torch_nn and dotted(called) == "nn.Softmax":
            says = _("`nn.Softmax` is a layer; write `nn.Softmax(dim=…)(X)`, or `torch.softmax`")
            yield node.lineno, says
        case ast.Call(ast.Name("input")) if "input" not in code.bound:
            says = _("the grader gives no keyboard input; use the arguments instead of `input()`")
            yield node.lineno, says
        case ast.Call(called) if dotted(called) in _DEBUGGERS:
            says = _("remove `{call}()` before you run the check")
            yield node.lineno, says.format(call=dotted(called))
        case ast.FunctionDef():
            yield from variables_of_the_file(node, code.variables)
        case ast.While():
            if names := _unchanged(node):
                says = _("nothing in this `while` loop changes {names}")
                yield node.lineno, says.format(names=", ".join(f"`{name}`" for name in names))


def _gives_a_value(function: ast.FunctionDef) -> bool:
    """Whether a function can return or yield a value, raises, or ends Python. Functions inside it do not count."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Yield() | ast.YieldFrom() | ast.Raise() | ast.Return(ast.expr()):
                return True
            case ast.Call(called) if dotted(called) in _EXITS:
                return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                continue
        waiting += ast.iter_child_nodes(node)
    return False


def _unchanged(loop: ast.While) -> list[str]:
    """Return the names in the condition if the body can neither change them nor leave the loop; else [].

    Also [] if the condition has a call, an attribute or an index: its value may change without the names.
    """
    changing = (ast.Call, ast.Attribute, ast.Subscript, ast.NamedExpr, ast.Await)
    if any(isinstance(part, changing) for part in ast.walk(loop.test)):
        return []
    names = sorted(_names(loop.test))
    touched: list[ast.AST] = []  # nodes whose values the body may change
    for part in (part for statement in loop.body for part in ast.walk(statement)):
        match part:
            case ast.Break() | ast.Return() | ast.Raise() | ast.Yield() | ast.YieldFrom():
                return []
            case ast.Global() | ast.Nonlocal():
                return []
            case ast.Name(ctx=ast.Store() | ast.Del()):
                touched.append(part)
            case ast.Attribute(value) | ast.Subscript(value):
                touched.append(value)
            case ast.Call(_called, given, named):
                touched += [*given, *(keyword.value for keyword in named)]
    return [] if any(isinstance(part, ast.Name) and part.id in names for part in touched) else names


def _of_class(node: ast.ClassDef, code: _Code) -> Found:
    defined = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    bases = [dotted(base) for base in node.bases]
    used = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    if bases[:2] == ["nn", "Module"] and code.torch_nn:
        yield node.lineno, _("`nn,Module` has a comma; write `nn.Module`")
    if any(base in code.definitions for base in bases):
        return  # what the class inherits is not known
    if "__init__" not in defined:
        for name in sorted(defined.keys() & _CONSTRUCTORS - used):
            # `__int__(self)` is no slip: Python calls it for `int(x)`.
            if name != "__int__" or len(defined[name].args.args) > 1:
                says = _("the method is called `{name}`; Python calls `__init__`").format(name=name)
                yield defined[name].lineno, says
    if not node.bases and "forward" in defined and "__call__" not in defined:
        says = _("the class does not inherit from nn.Module; write `class {name}(nn.Module)`")
        yield node.lineno, says.format(name=node.name)
    if code.torch_nn and len(bases) == 1 and bases[0] in _MODULES:
        if "forward" not in defined and "forward" not in used:
            yield from _without_forward(defined, used)
        if "__init__" in defined:
            yield from _without_super(defined["__init__"])
        if not _REGISTERS & (_names(node) | used):
            yield from _layers_in_lists(node, code)


def _without_forward(defined: dict[str, ast.FunctionDef], used: set[str]) -> Found:
    for name in get_close_matches("forward", sorted(defined.keys() - used), n=1, cutoff=0.85):
        says = _("the method is called `{name}`; PyTorch calls `forward`")
        yield defined[name].lineno, says.format(name=name)
    for inner in defined["__init__"].body if "__init__" in defined else ():
        if isinstance(inner, ast.FunctionDef) and inner.name == "forward":
            yield inner.lineno, _("`forward` is defined inside `__init__`; indent it less")


def _without_super(built: ast.FunctionDef) -> Found:
    """Report the first layer that is set before `nn.Module.__init__` was called."""
    for statement in built.body:
        attributes = {part.attr for part in ast.walk(statement) if isinstance(part, ast.Attribute)}
        if "super" in _names(statement) or attributes & {"__init__", *_CONSTRUCTORS}:
            return
        match statement:
            case ast.Assign(
                [ast.Attribute(ast.Name()), *_more], ast.Call(ast.Attribute(ast.Name("nn"), layer))
            ):
                if layer in _LAYERS:
                    yield statement.lineno, _("a layer is set before `super().__init__()` is called")
                    return


def _layers_in_lists(node: ast.ClassDef, code: _Code) -> Found:
    lists: dict[str, int] = {}
    layers: set[str] = set()
    for part in ast.walk(node):
        match part:
            case ast.Assign([target, *_more], ast.List(items)):
                owner = dotted(target)
                lists[owner] = part.lineno
            case ast.Assign([target, *_more], ast.ListComp(item)):
                owner, items = dotted(target), [item]
                lists[owner] = part.lineno
            case ast.Call(ast.Attribute(appended, "append"), items):
                owner = dotted(appended)
            case _:
                continue
        if any(isinstance(item, ast.Call) and _is_layer(dotted(item.func), code) for item in items):
            layers.add(owner)
    for owner in sorted(layers & lists.keys()):
        if owner.startswith("self."):
            says = _("layers in the list `{name}` are not registered; use `nn.ModuleList`")
            yield lists[owner], says.format(name=owner)


def _is_layer(name: str, code: _Code) -> bool:
    """Whether a name, perhaps with a module before it, is that of a layer, a building block or a module of the file."""
    last = name.rpartition(".")[2]
    own = code.definitions.get(last, ("", ast.Pass()))[1]
    is_module = isinstance(own, ast.ClassDef) and any(dotted(base) in _MODULES for base in own.bases)
    return is_module or last in BLOCKS or last in _LAYERS


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
