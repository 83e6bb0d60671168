"""Find slips in the syntax tree of a definition: code that raises, that never runs, or that is surely not meant.

A slip is reported only if it is certain. A name that may come from another file is no slip.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache

from grader.given import BLOCKS
from grader.intake.first_steps import first_steps
from grader.intake.misspelt import is_misspelt, keywords, nearest, variables_of_the_file
from grader.intake.names import plain
from grader.intake.needs import IMPORTS, bound_by
from grader.intake.read import Submission, Unit
from grader.intake.syntax import CannotParse, dotted, parse, walk
from grader.support.i18n import _

MAX_SLIPS = 3

_MODULES = frozenset({"nn.Module", "torch.nn.Module", "d2l.Module"})
_BASES = _MODULES | {"Module", "object"}
# Misspellings of `__init__`.
_CONSTRUCTORS = frozenset(
    {"init__", "_init_", "__init", "__init_", "_init__", "__int__", "__inti__", "__ini__"}
)
_LAYERS = ["Linear", "Dropout", "LayerNorm", "Embedding", "ModuleList", "Sequential", "Softmax", "ReLU", "GELU", "GRU", "LSTM", "Module", "functional", "Identity", "ParameterList", "ModuleDict", "Conv1d", "BatchNorm1d"]  # fmt: skip
_METHODS = ["permute", "transpose", "masked_fill", "contiguous", "reshape", "repeat_interleave", "unsqueeze", "squeeze", "softmax", "flatten", "append", "register_buffer"]  # fmt: skip
_ATTRIBUTES_OF_MODULE = """
T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda double dump_patches eval
extra_repr float forward get_buffer get_extra_state get_parameter get_submodule half ipu load_state_dict
modules mtia named_buffers named_children named_modules named_parameters parameters register_backward_hook
register_buffer register_forward_hook register_forward_pre_hook register_full_backward_hook
register_full_backward_pre_hook register_load_state_dict_post_hook register_load_state_dict_pre_hook
register_module register_parameter register_state_dict_post_hook register_state_dict_pre_hook requires_grad_
set_extra_state set_submodule share_memory state_dict to to_empty train training type xpu zero_grad
"""
_OF_MODULE = frozenset(_ATTRIBUTES_OF_MODULE.split())
# A class that uses or defines one of these may have attributes that no assignment to `self` shows.
_DYNAMIC = frozenset(
    {
        "setattr",
        "__dict__",
        "__getattr__",
        "__setattr__",
        "add_module",
        "register_module",
        "save_hyperparameters",
    }
)
# Names that the kernel of a notebook binds.
_OF_KERNELS = frozenset({"get_ipython", "display", "In", "Out", "exit", "quit"})


@dataclass(frozen=True)
class Slip:
    """A slip, with its place."""

    unit: str
    line: int
    says: str

    def sentence(self) -> str:
        return _("{file}, line {line}: {slip}").format(file=self.unit, line=self.line, slip=self.says)


def slips(submission: Submission, name: str) -> list[Slip]:
    """Return the slips in the definition of a name, by line; at most MAX_SLIPS."""
    text = _text(submission.units)
    if name not in text.definitions:
        return []
    unit, node = text.definitions[name]
    found = [*_of_definition(node, text), *first_steps(node, text.bound)]
    # The code of a kernel is in no file: there, the second definition may be a newer try.
    if name in text.earlier and submission.path.suffix:
        place = _("{file}, line {line}").format(file=text.earlier[name][0], line=text.earlier[name][1])
        says = _("{name} is defined twice; the last one counts, the other is at {place}")
        found.append((node.lineno, says.format(name=name, place=place)))
    slips = dict.fromkeys(Slip(unit, line, says) for line, says in found)
    return sorted(slips, key=lambda slip: slip.line)[:MAX_SLIPS]


@dataclass
class _Text:
    definitions: dict[str, tuple[str, ast.stmt]] = field(default_factory=dict)  # name → its last definition
    earlier: dict[str, tuple[str, int]] = field(
        default_factory=dict
    )  # the place of one that another replaces
    bound: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)  # that are set anywhere, methods included
    words: set[str] = field(default_factory=set)  # all string constants: one may be the name of a buffer
    variables: set[str] = field(default_factory=set)  # that top-level assignments set
    torch_nn: bool = True  # `nn` can only be torch.nn


@lru_cache(maxsize=2)
def _text(units: tuple[Unit, ...]) -> _Text:
    text = _Text()
    for unit in units:
        try:
            tree = parse(unit.source)
        except CannotParse:
            continue
        for statement in tree.body:
            if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
                if statement.name in text.definitions:
                    file, before = text.definitions[statement.name]
                    text.earlier[statement.name] = (file, before.lineno)
                text.definitions[statement.name] = (unit.name, statement)
            elif isinstance(statement, ast.Assign):
                text.variables.update(name for part in walk(statement) for name in bound_by(part))
        for node in walk(tree):
            text.bound.update(bound_by(node))
            text.attributes.update(_sets(node))
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text.words.add(node.value)
            if _is_other_nn(node):
                text.torch_nn = False
    return text


def _sets(node: ast.AST) -> list[str]:
    """Return the attributes that a node sets: of an object, or in the body of a class."""
    if isinstance(node, ast.Attribute):
        return [] if isinstance(node.ctx, ast.Load) else [node.attr]
    if isinstance(node, ast.ClassDef):
        return [name for part in node.body for inner in walk(part) for name in bound_by(inner)]
    return [node.name] if isinstance(node, ast.FunctionDef) else []


def _is_other_nn(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom) and node.module == "torch":
        return any(alias.asname == "nn" and alias.name != "nn" for alias in node.names)
    if isinstance(node, ast.Import):
        return any((alias.asname or alias.name) == "nn" and alias.name != "torch.nn" for alias in node.names)
    return "nn" in bound_by(node)


_Found = Iterator[tuple[int, str]]


def _of_definition(node: ast.stmt, text: _Text) -> _Found:
    if isinstance(node, ast.ClassDef):
        yield from _of_class(node, text)
    yield from _of_names(node, text)
    for part in walk(node):
        if isinstance(part, ast.Attribute):
            yield from _of_attribute(part, text)
        elif isinstance(part, ast.Call):
            yield from keywords(part)
            if text.torch_nn and dotted(part.func) == "nn.Softmax" and part.args and part.keywords:
                says = _("`nn.Softmax` is a layer; write `nn.Softmax(dim=…)(X)`, or `torch.softmax`")
                yield part.lineno, says
        elif isinstance(part, ast.FunctionDef):
            yield from variables_of_the_file(part, text.variables)


def _of_class(node: ast.ClassDef, text: _Text) -> _Found:
    methods = {part.name: part for part in node.body if isinstance(part, ast.FunctionDef)}
    bases = [dotted(base) for base in node.bases]
    used = {part.attr for part in walk(node) if isinstance(part, ast.Attribute)}
    if bases[:2] == ["nn", "Module"] and text.torch_nn:
        yield node.lineno, _("`nn,Module` has a comma; write `nn.Module`")
    yield from _of_super(node)
    if any(base in text.definitions for base in bases):
        return  # what the class inherits is not known
    if "__init__" not in methods:
        for name in sorted(methods.keys() & _CONSTRUCTORS - used):
            # `__int__(self)` is no slip: Python calls it for `int(x)`.
            if name != "__int__" or len(methods[name].args.args) > 1:
                says = _("the method is called `{name}`; Python calls `__init__`").format(name=name)
                yield methods[name].lineno, says
    if not node.bases and "forward" in methods and "__call__" not in methods:
        says = _("the class does not inherit from nn.Module; write `class {name}(nn.Module)`")
        yield node.lineno, says.format(name=node.name)
    if text.torch_nn and len(bases) == 1 and bases[0] in _MODULES:
        yield from _of_forward(methods, used)
        if "__init__" in methods:
            yield from _without_super(methods["__init__"])
        yield from _layers_in_lists(node, text)
    if set(bases) <= _BASES and not _DYNAMIC & (methods.keys() | _names(node) | used):
        yield from _of_self(node, text)


def _layers_in_lists(node: ast.ClassDef, text: _Text) -> _Found:
    registers = {"ModuleList", "Sequential", "ModuleDict", *_DYNAMIC}
    if registers & (_names(node) | {part.attr for part in walk(node) if isinstance(part, ast.Attribute)}):
        return
    lists: dict[str, int] = {}
    layers: set[str] = set()
    for part in walk(node):
        if isinstance(part, ast.Assign) and isinstance(part.value, ast.List | ast.ListComp):
            owner = dotted(part.targets[0])
            value = part.value
            items = value.elts if isinstance(value, ast.List) else [value.elt]
            lists[owner] = part.lineno
        elif isinstance(part, ast.Call) and getattr(part.func, "attr", "") == "append":
            owner, items = dotted(part.func).rpartition(".")[0], part.args
        else:
            continue
        if any(isinstance(item, ast.Call) and _is_layer(dotted(item.func), text) for item in items):
            layers.add(owner)
    for owner in sorted(layers & lists.keys()):
        if owner.startswith("self."):
            says = _("layers in the list `{name}` are not registered; use `nn.ModuleList`")
            yield lists[owner], says.format(name=owner)


def _is_layer(name: str, text: _Text) -> bool:
    """Whether a name, perhaps with a module before it, is that of a layer, a building block or a module of the file."""
    last = name.rpartition(".")[2]
    own = text.definitions.get(last, ("", ast.Pass()))[1]
    is_module = isinstance(own, ast.ClassDef) and any(dotted(base) in _MODULES for base in own.bases)
    return is_module or last in BLOCKS or last in _LAYERS


def _of_forward(methods: dict[str, ast.FunctionDef], used: set[str]) -> _Found:
    if "forward" in methods or "forward" in used:
        return
    for name in get_close_matches("forward", sorted(methods.keys() - used), n=1, cutoff=0.85):
        says = _("the method is called `{name}`; PyTorch calls `forward`")
        yield methods[name].lineno, says.format(name=name)
    if "__init__" not in methods:
        return
    for inner in methods["__init__"].body:
        if isinstance(inner, ast.FunctionDef) and inner.name == "forward":
            yield inner.lineno, _("`forward` is defined inside `__init__`; indent it less")


def _of_super(node: ast.ClassDef) -> _Found:
    for part in walk(node):
        alone = part.value if isinstance(part, ast.Expr) else None  # a statement that calls nothing
        if isinstance(alone, ast.Attribute) and alone.attr == "__init__" and _super_call(alone.value):
            yield alone.lineno, _("`super().__init__` is not called; add `()`")
        if not isinstance(part, ast.Attribute):
            continue
        call = _super_call(part.value)
        if call and part.attr == "__init__" and len(call.args) == 1:
            yield part.lineno, _("`super` has only one argument; write `super().__init__()`")
        if isinstance(part.value, ast.Name) and part.value.id == "super":
            says = _("`super.{name}` has no brackets; write `super().{name}`")
            yield part.lineno, says.format(name=part.attr)
        elif call and part.attr in _CONSTRUCTORS:
            says = _("`super().{name}` does not exist; write `super().__init__`")
            yield part.lineno, says.format(name=part.attr)


def _super_call(node: ast.expr) -> ast.Call | None:
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    return node if is_call and isinstance(node, ast.Call) else None


def _without_super(built: ast.FunctionDef) -> _Found:
    """Report the first layer that is set before `nn.Module.__init__` was called."""
    layers = {f"nn.{layer}" for layer in _LAYERS}
    for statement in built.body:
        names = {part.attr for part in walk(statement) if isinstance(part, ast.Attribute)}
        if "super" in _names(statement) or names & {"__init__", *_CONSTRUCTORS}:
            return
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Call):
            target = statement.targets[0]
            is_attribute = isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name)
            if is_attribute and dotted(statement.value.func) in layers:
                yield statement.lineno, _("a layer is set before `super().__init__()` is called")
                return


def _of_self(node: ast.ClassDef, text: _Text) -> _Found:
    own = {name for part in walk(node) for name in _sets(part)}
    known = text.attributes | text.words | _OF_MODULE
    unknown = {
        (part.lineno, part.attr)
        for part in walk(node)
        if isinstance(part, ast.Attribute)
        and isinstance(part.ctx, ast.Load)
        and isinstance(part.value, ast.Name)
        and part.value.id == "self"
        and not part.attr.startswith("_")
        and part.attr not in known
    }
    for line, name, meant in nearest(unknown, own):
        yield line, _("nothing sets `self.{name}`; did you mean `self.{near}`?").format(name=name, near=meant)


def _of_attribute(node: ast.Attribute, text: _Text) -> _Found:
    if node.attr in text.attributes:
        return
    if isinstance(node.value, ast.Name) and node.value.id == "nn":
        if not text.torch_nn:
            return
        layers = (layer for layer in _LAYERS if plain(layer) == plain(node.attr) and layer != node.attr)
        meant = next(layers, "")
        if meant:
            says = _("there is no `nn.{name}`; did you mean `nn.{near}`?")
            yield node.lineno, says.format(name=node.attr, near=meant)
        return
    is_of_self = isinstance(node.value, ast.Name) and node.value.id == "self"
    if not is_of_self and node.attr not in _METHODS:
        meant = next((method for method in _METHODS if is_misspelt(node.attr, method)), "")
        if meant:
            says = _("there is no `.{name}`; did you mean `.{near}`?")
            yield node.lineno, says.format(name=node.attr, near=meant)


def _of_names(node: ast.stmt, text: _Text) -> _Found:
    if "*" in text.bound:
        return  # `from … import *` may bind any name
    known = text.bound | set(dir(builtins)) | set(IMPORTS) | _OF_KERNELS
    annotations = (getattr(p, name, None) for p in walk(node) for name in ("annotation", "returns"))
    # Python may never evaluate them.
    hints = {id(part) for hint in annotations if isinstance(hint, ast.AST) for part in walk(hint)}
    unknown = {
        (part.lineno, part.id)
        for part in walk(node)
        if isinstance(part, ast.Name)
        and isinstance(part.ctx, ast.Load)
        and id(part) not in hints
        and part.id not in known
        and not part.id.startswith("__")
    }
    local = {bound for part in walk(node) for bound in bound_by(part)}
    for line, name, meant in nearest(unknown, local | set(text.definitions)):
        yield line, _("nothing is called `{name}`; did you mean `{near}`?").format(name=name, near=meant)


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in walk(node) if isinstance(part, ast.Name)}
