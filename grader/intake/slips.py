"""Find slips in the syntax tree of a definition: code that raises, that never runs, or that is surely not meant.

A slip is reported only if it is certain. A name that may come from another file is no slip. `_of_expression` is the
table of what one expression shows; each function below it is a rule that finds what a function or a class shows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache

from grader.given import BLOCKS
from grader.intake.misspelt import Found, keywords, methods, near, nearest, of_scopes, variables_of_the_file
from grader.intake.read import Submission, Unit, trees
from grader.intake.syntax import dotted
from grader.intake.uses import bound_by
from grader.support.i18n import _

MAX_SLIPS = 3

# Misspellings of `__init__`.
_CONSTRUCTORS = frozenset(
    ["init__", "_init_", "__init", "__init_", "_init__", "__int__", "__inti__", "__ini__"]
)
# Layers that a function can replace → the function.
_FUNCTIONS = {
    "ReLU": "torch.relu",
    "GELU": "F.gelu",
    "Dropout": "F.dropout",
    "LayerNorm": "F.layer_norm",
}
LAYERS = frozenset(
    ["Linear", "Embedding", "Sequential", "ModuleList", "GRU", "LSTM", "Conv1d", "MultiheadAttention"]
) | set(_FUNCTIONS)
# A class that uses one of these may set attributes in another way, or register the layers of a list.
_DYNAMIC = frozenset(
    [
        "setattr",
        "__dict__",
        "__getattr__",
        "__setattr__",
        "add_module",
        "register_module",
        "save_hyperparameters",
        "vars",
    ]
)
_REGISTERS = frozenset(["ModuleList", "Sequential", "ModuleDict"]) | _DYNAMIC
# What nn.Module defines, as far as a similar name is likely.
_OF_MODULES = frozenset(
    ["apply", "children", "eval", "float", "forward", "half", "modules", "parameters", "train", "training"]
)
_BASES = frozenset({"d2l.Encoder", "d2l.Decoder", "d2l.AttentionDecoder"})
_DEBUGGERS = frozenset({"breakpoint", "pdb.set_trace", "ipdb.set_trace"})
_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit"})


@dataclass(frozen=True)
class Slip:
    """A slip as a sentence, with its place. wins: it explains a failure better than the known mistake it looks like."""

    unit: str
    line: int
    says: str
    wins: bool = False


def slips(submission: Submission, name: str) -> list[Slip]:
    """Return the slips in the definition of a name, by line; at most MAX_SLIPS."""
    code = _code(submission.units)
    if name not in code.definitions:
        return []
    unit, node = code.definitions[name]
    own = {bound for part in ast.walk(node) for bound in bound_by(part)} | set(code.definitions)
    found = [*_of_definition(node, code), *of_scopes(submission, unit, node, own, "*" in code.bound)]
    winning = [*_tiny_fills(node), *_unread(node)]
    slips = [Slip(unit, *one) for one in found] + [Slip(unit, *one, wins=True) for one in winning]
    return sorted(dict.fromkeys(slips), key=lambda slip: slip.line)[:MAX_SLIPS]


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
    results = [node] if isinstance(node, ast.FunctionDef) else []
    if isinstance(node, ast.ClassDef):
        yield from _of_class(node, code)
        results = [p for p in node.body if isinstance(p, ast.FunctionDef) and p.name == "forward"]
    for function in results:
        yield from _without_value(function)
        yield from _layers_as_functions(function) if code.torch_nn else ()
    for part in ast.walk(node):
        yield from _of_expression(part, code)
        match part:
            case ast.Call():
                yield from keywords(part)
            case ast.Attribute():
                yield from methods(part, code.attributes)
            case ast.FunctionDef():
                yield from variables_of_the_file(part, code.variables)
            case ast.While():
                if names := _unchanged(part):
                    says = _("nothing in this `while` loop changes {names}")
                    yield part.lineno, says.format(names=", ".join(f"`{name}`" for name in names))


def _of_expression(node: ast.AST, code: _Code) -> Found:
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
        case ast.Call(called, [_first, *_], [_named, *_]) if code.torch_nn and dotted(called) == "nn.Softmax":
            says = _("`nn.Softmax` is a layer; write `nn.Softmax(dim=…)(X)`, or call `torch.softmax`")
            yield node.lineno, says
        case ast.Call(ast.Name("input")) if "input" not in code.bound:
            says = _("the grader gives no keyboard input; use the arguments instead of `input()`")
            yield node.lineno, says
        case ast.Call(called) if dotted(called) in _DEBUGGERS:
            says = _("remove `{call}()` before you run the check")
            yield node.lineno, says.format(call=dotted(called))


# ---- functions


def _without_value(function: ast.FunctionDef) -> Found:
    """It neither returns nor yields a value, raises, nor ends Python. Functions inside it do not count."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Yield() | ast.YieldFrom() | ast.Raise() | ast.Return(ast.expr()):
                return
            case ast.Call(called) if dotted(called) in _EXITS:
                return
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                continue
        waiting += ast.iter_child_nodes(node)
    says = _("{name} returns no value; did you forget `return`?")
    yield function.lineno, says.format(name=function.name)


def _layers_as_functions(function: ast.FunctionDef) -> Found:
    """A layer that gets a tensor where it is constructed, and is never called."""
    parts = [*ast.walk(function)]
    called = {dotted(part.func) for part in parts if isinstance(part, ast.Call)}
    for part in parts:
        match part:
            case ast.Assign([target], value) if dotted(target) not in called:
                pass
            case ast.Return(value):
                pass
            case _:
                continue
        match value:
            case ast.Call(ast.Attribute(ast.Name("nn"), layer), [ast.expr() as first, *_]):
                if layer in _FUNCTIONS and not isinstance(first, (ast.Constant, ast.UnaryOp, ast.Attribute)):
                    says = _("`nn.{layer}` is a layer; write `nn.{layer}(…)(X)`, or call `{function}`")
                    yield part.lineno, says.format(layer=layer, function=_FUNCTIONS[layer])


def _tiny_fills(node: ast.stmt) -> Found:
    """A fill value such as 1e-6, where -1e6 is meant."""
    for part in ast.walk(node):
        match part:
            case ast.Call(ast.Attribute(attr="masked_fill" | "masked_fill_"), [_, value]):
                pass
            case ast.keyword("value", value) | ast.Assign([ast.Subscript(slice=ast.UnaryOp())], value):
                pass
            case _:
                continue
        if isinstance(value, ast.Constant) and isinstance(value.value, float) and 0 < value.value < 1e-4:
            says = _("the fill value is {value:.0e}, which is nearly zero; write {meant:.0e}")
            yield value.lineno, says.format(value=value.value, meant=-1 / value.value)


def _unread(node: ast.stmt) -> Found:
    """A changed tensor gets nearly its old name; the code below reads the tensor without the change."""
    for function in (part for part in ast.walk(node) if isinstance(part, ast.FunctionDef)):
        parts = [*ast.walk(function)]
        names = [part for part in parts if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)]
        last = {name.id: name.lineno for name in sorted(names, key=lambda name: name.lineno)}
        for part in parts:
            match part:
                case ast.Assign([ast.Name(name)], value) if name not in last:
                    meant = near(name, _names(value))
                    if last.get(meant, 0) > (part.end_lineno or 0):
                        says = _("`{name}` is set and never read; did you mean `{near}`?")
                        yield part.lineno, says.format(name=name, near=meant)


def _unchanged(loop: ast.While) -> list[str]:
    """Return the names in the condition if the body can neither change them nor leave the loop; else [].

    Also [] if the condition has a call, an attribute or an index: its value may change without the names.
    """
    changing = (ast.Call, ast.Attribute, ast.Subscript, ast.NamedExpr, ast.Await)
    if any(isinstance(part, changing) for part in ast.walk(loop.test)):
        return []
    touched: set[str] = set()  # names whose values the body may change
    for part in (part for statement in loop.body for part in ast.walk(statement)):
        match part:
            case ast.Break() | ast.Return() | ast.Raise() | ast.Yield() | ast.YieldFrom():
                return []
            case ast.Global(names) | ast.Nonlocal(names):
                touched |= {*names}
            case ast.Name(name, ast.Store() | ast.Del()):
                touched.add(name)
            case ast.Attribute(value) | ast.Subscript(value):
                touched |= _names(value)
            case ast.Call():
                touched |= _names(part)
    return sorted(set() if touched & _names(loop.test) else _names(loop.test))


# ---- classes


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
        says = _(
            "the class does not inherit from nn.Module; write `class {name}(nn.Module)` and call `super().__init__()`"
        )
        yield node.lineno, says.format(name=node.name)
    if code.torch_nn and len(bases) == 1 and _is_module(bases[0]):
        if "forward" not in defined and "forward" not in used:
            yield from _without_forward(defined, used)
        if "__init__" in defined:
            yield from _without_super(defined["__init__"], code)
        if not _REGISTERS & (_names(node) | used):
            yield from _layers_in_lists(node, code)
        if not _DYNAMIC & (_names(node) | used):
            yield from _never_set(node, code)


def _is_module(base: str) -> bool:
    return base.endswith("Module") or base in _BASES


def _without_forward(defined: dict[str, ast.FunctionDef], used: set[str]) -> Found:
    for name in get_close_matches("forward", sorted(defined.keys() - used), n=1, cutoff=0.85):
        says = _("the method is called `{name}`; PyTorch calls `forward`")
        yield defined[name].lineno, says.format(name=name)
    for inner in defined["__init__"].body if "__init__" in defined else ():
        if isinstance(inner, ast.FunctionDef) and inner.name == "forward":
            yield inner.lineno, _("`forward` is defined inside `__init__`; indent it less")


def _without_super(built: ast.FunctionDef, code: _Code) -> Found:
    """Report the first layer that is set before `nn.Module.__init__` was called."""
    for statement in built.body:
        attributes = {part.attr for part in ast.walk(statement) if isinstance(part, ast.Attribute)}
        if "super" in _names(statement) or attributes & {"__init__", *_CONSTRUCTORS}:
            return
        match statement:
            case ast.Assign([ast.Attribute(ast.Name()), *_], ast.Call(called)) if _is_layer(called, code):
                yield statement.lineno, _("a layer is set before `super().__init__()` is called")
                return


def _never_set(node: ast.ClassDef, code: _Code) -> Found:
    """Report an attribute of `self` that nothing sets, beside a similar one that the class sets."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.Attribute)]
    of_self = [part for part in parts if dotted(part) == f"self.{part.attr}"]
    words = {str(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant)}
    known = code.attributes | _OF_MODULES | words  # a word may be the name of a buffer
    stored = {part.attr for part in of_self if not isinstance(part.ctx, ast.Load)}
    unknown = {(part.lineno, part.attr) for part in of_self if part.attr not in known}
    for line, name, meant in nearest(unknown, stored):
        says = _("nothing sets `self.{name}`; did you mean `self.{near}`?")
        yield line, says.format(name=name, near=meant)


def _layers_in_lists(node: ast.ClassDef, code: _Code) -> Found:
    """Report lists, tuples and dicts of layers that `self` keeps, also if a local name or `append` fills them."""
    lists: dict[str, tuple[int, str]] = {}  # attribute → its line, and the name that is filled
    filled = set()
    for part in ast.walk(node):
        match part:
            case ast.Assign([target], value):
                owner, items = dotted(target), [*_items(value)]
                lists[owner] = part.lineno, dotted(value) or owner
            case ast.Call(ast.Attribute(appended, "append"), items):
                owner = dotted(appended)
            case _:
                continue
        if any(isinstance(item, ast.Call) and _is_layer(item.func, code) for item in items):
            filled.add(owner)
    for owner, (line, name) in lists.items():
        if owner.startswith("self.") and name in filled:
            says = _("layers in the list `{name}` are not registered; use `nn.ModuleList`")
            yield line, says.format(name=owner)


def _items(value: ast.expr) -> Iterator[ast.expr]:
    """Yield the items that a list, a tuple or a dict gets."""
    match value:
        case ast.List(items) | ast.Tuple(items) | ast.Dict(_, items):
            yield from items
        case ast.ListComp(item) | ast.GeneratorExp(item) | ast.DictComp(_, item):
            yield item
        case ast.BinOp(left, _, right):
            yield from (*_items(left), *_items(right))
        case ast.Call(ast.Name("list" | "tuple"), [inner]):
            yield from _items(inner)


def _is_layer(called: ast.expr, code: _Code) -> bool:
    """Whether a name, perhaps with a module before it, is that of a layer, a building block or a module of the file."""
    last = dotted(called).rpartition(".")[2]
    own = code.definitions.get(last, ("", ast.Pass()))[1]
    is_module = isinstance(own, ast.ClassDef) and any(_is_module(dotted(base)) for base in own.bases)
    return is_module or last in BLOCKS or last in LAYERS


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
