"""Find slips in the syntax tree of a definition: code that raises, that never runs, or that is surely not meant.

A slip is reported only if it is certain. A name that may come from another file is no slip. `_RULES` says which rules
look at which nodes; each rule yields lines and sentences.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from grader.given import BLOCKS
from grader.intake.misspelt import Found, keywords, methods, near, nearest, of_scopes, variables_of_the_file
from grader.intake.names import method_of, nodes_of
from grader.intake.read import Submission
from grader.intake.syntax import dotted
from grader.intake.uses import Bindings, bindings
from grader.support.i18n import _

MAX_SLIPS = 3
ALIKE = 0.85  # how similar the name of a method is to the one that Python or PyTorch calls
# Layers that a function can replace → the function.
_FUNCTIONS = {"ReLU": "torch.relu", "GELU": "F.gelu", "Dropout": "F.dropout", "LayerNorm": "F.layer_norm"}
LAYERS = {"Linear", "Embedding", "Sequential", "ModuleList", "GRU", "LSTM", "Conv1d", "MultiheadAttention"}
LAYERS |= _FUNCTIONS.keys()
# A class that uses one of these may set attributes in another way, or register the layers of a list.
_DYNAMIC = {"setattr", "__dict__", "__getattr__", "__setattr__", "vars", "save_hyperparameters"}
_DYNAMIC |= {"add_module", "register_module"}
_REGISTERS = {"ModuleList", "Sequential", "ModuleDict", *_DYNAMIC}
# What nn.Module defines, as far as a similar name is likely.
_OF_MODULES = frozenset(
    ["apply", "children", "eval", "float", "forward", "half", "modules", "parameters", "train", "training"]
)
_BASES = ("d2l.Encoder", "d2l.Decoder", "d2l.AttentionDecoder")
_DEBUGGERS = ("breakpoint", "pdb.set_trace", "ipdb.set_trace")
_EXITS = ("exit", "quit", "sys.exit", "os._exit")
_LEAVES = ast.Break | ast.Return | ast.Raise | ast.Yield | ast.YieldFrom  # a loop, or a function


@dataclass(frozen=True)
class Slip:
    """A slip as a sentence, with its place. wins: it explains a failure better than the known mistake it looks like."""

    unit: str
    line: int
    says: str
    wins: bool = False


def slips(submission: Submission, name: str) -> list[Slip]:
    """Return the slips in the definition of a name, by line; at most MAX_SLIPS."""
    code = bindings(submission.units)
    if name not in code.own:
        return []
    unit, node = nodes_of(submission.units)[name]
    found = [*_of_class(node, code)] if isinstance(node, ast.ClassDef) else []
    found += [*_of_result(node, code), *of_scopes(submission, unit, node, code)]
    slips = [Slip(unit, *one) for one in found]
    for part in ast.walk(node):
        for rule in _RULES.get(type(part), ()):
            slips += [Slip(unit, *one, wins=rule in _WINNING) for one in rule(part, code)]
    return sorted(dict.fromkeys(slips), key=lambda slip: slip.line)[:MAX_SLIPS]


def _of_expression(node: ast.expr | ast.Expr, code: Bindings) -> Found:
    says = ""
    match node:
        case ast.Expr(ast.Attribute(ast.Call(ast.Name("super")), "__init__")):
            says = _("`super().__init__` is not called; add `()`")
        case ast.Attribute(ast.Call(ast.Name("super"), [_one]), "__init__"):
            says = _("`super` has only one argument; write `super().__init__()`")
        case ast.Attribute(ast.Name("super"), name):
            says = _("`super.{name}` has no brackets; write `super().{name}`").format(name=name)
        case ast.Attribute(ast.Call(ast.Name("super")), name) if _is_nearly("__init__", name):
            says = _("`super().{name}` does not exist; write `super().__init__`").format(name=name)
        case ast.Call(called, [_first, *_], [_named, *_]) if code.torch_nn and dotted(called) == "nn.Softmax":
            says = _("`nn.Softmax` is a layer; write `nn.Softmax(dim=…)(X)`, or call `torch.softmax`")
        case ast.Call(ast.Name("input")) if "input" not in code.bound:
            says = _("the grader gives no keyboard input; use the arguments instead of `input()`")
        case ast.Call(called) if dotted(called) in _DEBUGGERS:
            says = _("remove `{call}()` before you run the check").format(call=dotted(called))
    if says:
        yield node.lineno, says


def _is_nearly(right: str, name: str) -> bool:
    return name != right and bool(get_close_matches(right, [name], cutoff=ALIKE))


# ---- functions


def _of_result(node: ast.stmt, code: Bindings) -> Found:
    """Report what a function, or the method `forward` of a class, returns."""
    function = node if isinstance(node, ast.FunctionDef) else method_of(node, "forward")
    if function and not _has_value(function):
        says = _("{name} returns no value; did you forget `return`?")
        yield function.lineno, says.format(name=function.name)
    yield from _layers_as_functions(function) if function and code.torch_nn else ()


def _has_value(function: ast.FunctionDef) -> bool:
    """Whether it returns or yields a value, raises, or ends Python. Functions inside it do not count."""
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


def _layers_as_functions(function: ast.FunctionDef) -> Found:
    """A layer that gets a tensor where it is constructed, and is never called."""
    parts = [*ast.walk(function)]
    called = {dotted(part.func) for part in parts if isinstance(part, ast.Call)}
    for part in (part for part in parts if isinstance(part, ast.Assign | ast.Return)):
        match part.value:
            case ast.Call(ast.Attribute(ast.Name("nn"), layer), [first, *_]) if layer in _FUNCTIONS:
                is_size = isinstance(first, ast.Constant | ast.UnaryOp | ast.Attribute)
                if not is_size and called.isdisjoint(map(dotted, getattr(part, "targets", ()))):
                    says = _("`nn.{layer}` is a layer; write `nn.{layer}(…)(X)`, or call `{function}`")
                    yield part.lineno, says.format(layer=layer, function=_FUNCTIONS[layer])


def _tiny_fill(node: ast.AST, code: Bindings) -> Found:
    """A fill value such as 1e-6, where -1e6 is meant."""
    match node:
        case (
            ast.Call(
                ast.Attribute(attr="masked_fill" | "masked_fill_"), [_, ast.Constant(float(value)) as at]
            )
            | ast.keyword("value", ast.Constant(float(value)) as at)
            | ast.Assign([ast.Subscript(slice=ast.UnaryOp())], ast.Constant(float(value)) as at)
        ) if 0 < value < 1e-4:
            says = _("the fill value is {value:.0e}, which is nearly zero; write {meant:.0e}")
            yield at.lineno, says.format(value=value, meant=-1 / value)


def _unread(function: ast.FunctionDef, code: Bindings) -> Found:
    """A changed tensor gets nearly its old name; the code below reads the tensor without the change."""
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


def _unchanged(loop: ast.While, code: Bindings) -> Found:
    """A loop whose body can neither change the names in the condition nor leave the loop.

    The value of a call, an attribute or an index in the condition may change without the names.
    """
    changing = ast.Call | ast.Attribute | ast.Subscript | ast.NamedExpr | ast.Await
    tested, touched = _names(loop.test), set[str]()  # names whose values the body may change
    parts = [part for statement in loop.body for part in ast.walk(statement)]
    if any(isinstance(part, changing) for part in ast.walk(loop.test)):
        return
    for part in parts:
        match part:
            case ast.Global(names) | ast.Nonlocal(names):
                touched |= {*names}
            case ast.Name(name, ast.Store() | ast.Del()):
                touched.add(name)
            case ast.Attribute(value) | ast.Subscript(value):
                touched |= _names(value)
            case ast.Call():
                touched |= _names(part)
    if tested and not touched & tested and not any(isinstance(part, _LEAVES) for part in parts):
        says = _("nothing in this `while` loop changes {names}")
        yield loop.lineno, says.format(names=", ".join(f"`{name}`" for name in sorted(tested)))


# ---- classes


def _of_class(node: ast.ClassDef, code: Bindings) -> Found:
    defined = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    bases = [dotted(base) for base in node.bases]
    used = {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}
    words = used | _names(node)
    if bases[:2] == ["nn", "Module"] and code.torch_nn:
        yield node.lineno, _("`nn,Module` has a comma; write `nn.Module`")
    if any(base in code.own for base in bases):
        return  # what the class inherits is not known
    if not node.bases and "forward" in defined and "__call__" not in defined:
        says = _(
            "the class does not inherit from nn.Module; write `class {name}(nn.Module)` and call `super().__init__()`"
        )
        yield node.lineno, says.format(name=node.name)
    is_module = code.torch_nn and len(bases) == 1 and _is_module(bases[0])
    built = defined.get("__init__")
    for right, says in (
        ("__init__", _("the method is called `{name}`; Python calls `__init__`")),
        ("forward", _("the method is called `{name}`; PyTorch calls `forward`") if is_module else ""),
    ):
        missing = says and right not in (defined.keys() | used if right == "forward" else defined)
        for name in sorted(defined.keys() - used) if missing else ():
            # `__int__(self)` is no slip: Python calls it for `int(x)`.
            if _is_nearly(right, name) and (name != "__int__" or len(defined[name].args.args) > 1):
                yield defined[name].lineno, says.format(name=name)
    if is_module and built:
        yield from _without_super(built, code)
        for inner in built.body if "forward" not in defined.keys() | used else ():
            if isinstance(inner, ast.FunctionDef) and inner.name == "forward":
                yield inner.lineno, _("`forward` is defined inside `__init__`; indent it less")
    if is_module and words.isdisjoint(_REGISTERS):
        yield from _layers_in_lists(node, code)
    if is_module and words.isdisjoint(_DYNAMIC):
        yield from _never_set(node, code)


def _is_module(base: str) -> bool:
    return base.endswith("Module") or base in _BASES


def _without_super(built: ast.FunctionDef, code: Bindings) -> Found:
    """Report the first layer that is set before `nn.Module.__init__` was called."""
    for statement in built.body:
        attributes = [part.attr for part in ast.walk(statement) if isinstance(part, ast.Attribute)]
        if "super" in _names(statement) or get_close_matches("__init__", attributes, cutoff=ALIKE):
            return
        match statement:
            case ast.Assign([ast.Attribute(ast.Name()), *_], ast.Call(called)) if _is_layer(called, code):
                yield statement.lineno, _("a layer is set before `super().__init__()` is called")
                return


def _never_set(node: ast.ClassDef, code: Bindings) -> Found:
    """Report an attribute of `self` that nothing sets, beside a similar one that the class sets."""
    parts = [part for part in ast.walk(node) if isinstance(part, ast.Attribute)]
    of_self = [part for part in parts if dotted(part) == f"self.{part.attr}"]
    words = {str(part.value) for part in ast.walk(node) if isinstance(part, ast.Constant)}
    known = code.attributes | code.bound.keys() | _OF_MODULES | words  # a word may be the name of a buffer
    stored = {part.attr for part in of_self if not isinstance(part.ctx, ast.Load)}
    unknown = {(part.lineno, part.attr) for part in of_self if part.attr not in known}
    for line, name, meant in nearest(unknown, stored):
        says = _("nothing sets `self.{name}`; did you mean `self.{near}`?")
        yield line, says.format(name=name, near=meant)


def _layers_in_lists(node: ast.ClassDef, code: Bindings) -> Found:
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


def _is_layer(called: ast.expr, code: Bindings) -> bool:
    """Whether a name, perhaps with a module before it, is that of a layer, a building block or a module of the file."""
    last = dotted(called).rpartition(".")[2]
    is_module = any(_is_module(dotted(base)) for base in getattr(code.own.get(last), "bases", ()))
    return is_module or last in BLOCKS or last in LAYERS


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


_RULES: Mapping[type[ast.AST], Sequence[Callable[[Any, Bindings], Found]]] = {
    ast.FunctionDef: (variables_of_the_file, _unread),
    ast.While: (_unchanged,),
    ast.Expr: (_of_expression,),
    ast.Attribute: (_of_expression, methods),
    ast.Call: (_of_expression, keywords, _tiny_fill),
    ast.keyword: (_tiny_fill,),
    ast.Assign: (_tiny_fill,),
}
_WINNING = (_tiny_fill, _unread)
