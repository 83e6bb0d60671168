"""Find the contract's weights in a module with another layout.

The *contract* is the names and shapes of the weights that a case loads.

A correct attention may have its projections as one fused matrix, as a small Linear per head, as three-dimensional
parameters, as 1×1 convolutions, or inside `nn.MultiheadAttention`. Each of these rearranges the contract's
matrices. So each is described by *slots*: rows of a contract tensor, and a view of a parameter of the module with
the same values. Loading writes through the view; reading a gradient reads through it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from grader.worker.matching_parts import layers_in_order, names_by_structure
from grader.worker.parameter_names import is_bare, is_bias, role

View = Callable[[Tensor], Tensor]
Shapes = Mapping[str, tuple[int, ...]]  # of the contract's weights, by their names

OTHER_NAMES, SAME_ORDER = "other names", "other names, same order"
PER_HEAD, CONVOLUTION = "projections per head", "1×1 convolutions"


@dataclass(frozen=True)
class Slot:
    """Rows `start:stop` of the tensor `contract` are `view(t)`, where t is the module's parameter `own`."""

    contract: str
    own: str
    view: View = lambda t: t
    start: int = 0
    stop: int | None = None
    layout: str = ""  # if it is not the contract's


@dataclass
class Fit:
    """Which parameters of a module belong to which names of the contract, and which are left on either side."""

    slots: list[Slot] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # names of the contract
    unexpected: list[str] = field(default_factory=list)  # names in the module
    misshapen: dict[str, str] = field(default_factory=dict)  # name of the contract → name in the module
    shared: list[list[str]] = field(default_factory=list)  # pairs of contract names with the same parameter

    @property
    def complete(self) -> bool:
        return not (self.missing or self.unexpected or self.misshapen or self.shared)

    @property
    def layout(self) -> str:
        """The layouts that are not the contract's, for example "projections per head"; "" if there are none.

        A module with all names of the contract has no other names, even if the shapes of two are exchanged.
        """
        other = {slot.own for slot in self.slots} != {slot.contract for slot in self.slots}
        layouts = {slot.layout for slot in self.slots} - {"", OTHER_NAMES}
        return ", ".join(sorted(layouts)) or (OTHER_NAMES if other else "")


@dataclass(frozen=True)
class _Held:
    """A parameter of the module, under a name that is compared with those of the contract."""

    own: str
    tensor: Tensor
    bare: bool  # may be (in, out); see `is_bare`


Held = Mapping[str, _Held]


def fit(own: Mapping[str, Tensor], wanted: Shapes, as_linear: Collection[str] = ()) -> Fit:
    """Match a module's parameters to the contract's names and shapes: by their names and layouts, else by the structure
    of the module, else in the order of its layers.

    as_linear: bare (see `is_bare`) square parameters that are (out, in), as the weight of a linear layer is.
    """
    # With `.weight` at its end, a name is not bare.
    names = {f"{name}.weight" if name in as_linear and name not in wanted else name: name for name in own}
    held = {name: _Held(mine, own[mine], is_bare(name)) for name, mine in names.items()}
    tried = []
    for renamed in _names(held, wanted):
        tried.append(_by_layout({name: held[mine] for name, mine in renamed.items()}, wanted))
        if tried[-1].complete:
            return tried[-1]
    return max(tried, key=lambda found: len(found.slots))


def _names(held: Held, wanted: Shapes) -> Iterator[Mapping[str, str]]:
    """Yield other names for the parameters → their names, for a comparison with those of the contract."""
    yield {name: name for name in held}
    shapes = {name: tuple(one.tensor.shape) for name, one in held.items()}
    yield names_by_structure(shapes, wanted)
    if in_order := layers_in_order(shapes, wanted):
        yield in_order


def _by_layout(held: Held, wanted: Shapes) -> Fit:
    """Match by name, and the rest of each module by role or in order. If something is then left, match only by name."""
    found = Fit(unexpected=[one.own for name, one in held.items() if name not in wanted])
    for name, shape in wanted.items():
        if name not in held:
            found.missing.append(name)
        elif slots := _one(name, shape, replace(held[name], bare=False)):
            found.slots += slots
        else:
            found.misshapen[name] = held[name].own
    slots = list(found.slots)
    for prefix, group in _groups([*found.missing, *found.misshapen]).items():
        used = {slot.own for slot in slots}
        near = {name: one for name, one in held.items() if name.startswith(prefix) and one.own not in used}
        shapes = {name: wanted[name] for name in group}
        slots += _by_role(prefix, shapes, near) or _in_order(shapes, near)
    everything = {slot.contract for slot in slots} == wanted.keys()
    if everything and {slot.own for slot in slots} == {one.own for one in held.values()}:
        found = Fit(slots)
    found.shared = _shared(found.slots, held)
    return found


def _shared(slots: Sequence[Slot], held: Held) -> list[list[str]]:
    """Return pairs of contract names that share one parameter, which has two names in the module."""
    tensors = {one.own: id(one.tensor) for one in held.values()}
    seen: dict[int, Slot] = {}
    pairs = []
    for slot in slots:
        first = seen.setdefault(tensors[slot.own], slot)
        if first.own != slot.own:
            pairs.append((first.contract, slot.contract))
    return [list(pair) for pair in dict.fromkeys(pairs)]


def _groups(names: Sequence[str]) -> dict[str, list[str]]:
    """Group contract names by the module that holds their layers: "blks.block0.attention." → [its names]."""
    out: dict[str, list[str]] = {}
    for name in names:
        parts = name.split(".")
        out.setdefault("".join(f"{part}." for part in parts[:-2]), []).append(name)
    return out


# How a parameter may hold a weight of the contract: its axes, the contract's, for which roles, and the name of the
# layout. Axes in one word are joined; 1 is an axis of size one. h, d: heads and features per head; o, i: out and in.
# Without roles, a row is for all weights. The first row, for `x @ W`, is for bare parameters only.
_VIEWS = (
    ("io", "o i", "", ""),
    ("oi", "o i", "", ""),
    ("o", "o", "", ""),
    ("i", "1 i", "", ""),
    ("oi1", "o i", "", CONVOLUTION),
    ("o1", "o", "", CONVOLUTION),
    ("hd", "hd", "qkvo", PER_HEAD),
    ("hdo", "o hd", "o", PER_HEAD),
    ("hid", "hd i", "qkv", PER_HEAD),
    ("hdi", "hd i", "qkv", PER_HEAD),
    ("ihd", "hd i", "qkv", PER_HEAD),
)


def _view(axes: str, contract: str, parameter: Tensor) -> Tensor:
    """Return a parameter with the axes of a row of _VIEWS in the contract's order."""
    sizes = dict(zip(axes, parameter.shape, strict=True))
    words = contract.split()
    order = [axes.index(axis) for axis in "".join(words) if axis in axes]
    order += [at for at in range(len(axes)) if at not in order]
    return parameter.permute(order).reshape([prod(sizes.get(axis, 1) for axis in word) for word in words])


def _one(name: str, shape: tuple[int, ...], held: _Held, of: str = "") -> list[Slot]:
    """Fit a parameter to the contract's `name` by the first row of _VIEWS that gives this shape. of: its role."""
    sizes = held.tensor.shape
    for axes, contract, roles, layout in _VIEWS:
        usable = (not roles or (of and of in roles)) and (held.bare or axes != "io")
        if usable and len(axes) == len(sizes) and ("1" not in axes or sizes[axes.index("1")] == 1):
            view = partial(_view, axes, contract)
            if view(held.tensor).shape == shape:
                return [Slot(name, held.own, view, layout=layout)]
    return []


def _per_head(name: str, shape: tuple[int, ...], mine: Held) -> list[Slot]:
    """Fit one parameter per head, in the order of the numbers at the ends of the segments of their names."""
    # (0, 12) for "heads.0.q12".
    numbered = sorted(mine, key=lambda one: [int(n) for n in re.findall(r"(?<!\d)\d++(?=\.|$)", one)])
    rows = shape[0] // max(len(mine), 1)
    if any(tuple(held.tensor.shape) != (rows, *shape[1:]) for held in mine.values()):
        return []
    return [
        Slot(name, mine[one].own, start=h * rows, stop=(h + 1) * rows, layout=PER_HEAD)
        for h, one in enumerate(numbered)
    ]


def _joined(names: Sequence[str], axis: int, layout: str, group: Shapes, near: Held) -> list[Slot]:
    """Fit weights to the only parameter that has their shape, joined along an axis."""
    shapes = [list(group[name]) for name in names]
    if any(len(shape) <= axis for shape in shapes):  # a bias has no columns
        return []
    lengths = [shape.pop(axis) for shape in shapes]
    whole = (*shapes[0][:axis], sum(lengths), *shapes[0][axis:])
    found = [
        held.own
        for name, held in near.items()
        if tuple(held.tensor.shape) == whole and is_bias(name) == is_bias(names[0])
    ]
    if len(found) != 1 or any(shape != shapes[0] for shape in shapes):
        return []
    return [
        Slot(name, found[0], partial(torch.narrow, dim=axis, start=start, length=length), layout=layout)
        for name, start, length in zip(names, accumulate(lengths, initial=0), lengths, strict=False)
    ]


# Projections whose matrices may be one parameter: their roles, the axis, and the name of the layout.
_JOINED = (
    ("qkv", 0, "one fused projection"),
    ("qk", 1, "one layer over the joined queries and keys"),
)


def _by_role(prefix: str, group: Shapes, near: Held) -> list[Slot]:
    """Fit each projection to the parameters whose names show its role, or several to one parameter; if there is such a
    parameter, the other weights to the only parameter of their shape. Return [] if one of them does not fit.
    """
    wanted = {(role(name.rpartition(".")[0].rpartition(".")[2]), is_bias(name)): name for name in group}
    slots: list[Slot] = []
    for (of, bias), name in wanted.items():
        mine = {
            other: held
            for other, held in near.items()
            if of and role(other[len(prefix) :]) == of and is_bias(other) == bias
        }
        one = next(iter(mine.values())) if len(mine) == 1 else None
        slots += _one(name, group[name], one, of) if one else _per_head(name, group[name], mine)
    sets = [
        ([wanted.get((of, bias), "") for of in roles], axis, layout)
        for roles, axis, layout in _JOINED
        for bias in (False, True)
    ]
    sets += [([name], 0, "") for name in group]
    for names, axis, layout in sets:
        used, covered = {slot.own for slot in slots}, {slot.contract for slot in slots}
        joined = layout or len(used) < len(slots)
        if joined and all(names) and covered.isdisjoint(names):
            left = {name: held for name, held in near.items() if held.own not in used}
            slots += _joined(names, axis, layout, group, left)
    return slots if {slot.contract for slot in slots} == group.keys() else []


def _in_order(group: Shapes, near: Held) -> list[Slot]:
    """Fit the same shapes in the same order under any names; biases separately, if the names show them."""
    # A parameter with a name of the contract is that weight, with a wrong shape: do not match by order.
    if len(near) != len(group) or near.keys() & group.keys():
        return []
    names, mine = list(group), list(near)
    if sum(map(is_bias, names)) == sum(map(is_bias, mine)):
        names, mine = sorted(names, key=is_bias), sorted(mine, key=is_bias)
    found = [_one(name, group[name], near[one]) for name, one in zip(names, mine, strict=True)]
    return [replace(slot, layout=SAME_ORDER) for one in found for slot in one] if all(found) else []


def fill_lazy_layers(module: nn.Module, contract: Mapping[str, Tensor]) -> None:
    """Give lazy layers their sizes and weights, by name or else in the order of the layers."""
    module.load_state_dict(contract, strict=False)
    own: dict[str, tuple[int | None, ...]] = {}
    for path, layer in module.named_modules():
        out = layer.out_features if isinstance(layer, nn.LazyLinear) else None
        for name, parameter in layer.named_parameters(path, recurse=False):
            lazy = (out, None) if name.endswith("weight") else (out,)
            own[name] = lazy if is_lazy(parameter) else tuple(parameter.shape)
    names = layers_in_order(own, {name: tuple(t.shape) for name, t in contract.items()})
    module.load_state_dict({mine: contract[name] for name, mine in names.items()}, strict=False)


def write(found: Fit, own: Mapping[str, Tensor], contract: Mapping[str, Tensor]) -> None:
    """Fill the module's parameters from the contract's tensors. Fill the unexpected and the misshapen ones with fixed
    values, so that every run is the same.
    """
    with torch.no_grad():
        for name in (*found.unexpected, *found.misshapen.values()):
            numbers = torch.arange(own[name].numel(), dtype=torch.float64)
            own[name].copy_(torch.cos(numbers).reshape(own[name].shape) / 2)
        for slot in found.slots:
            target, source = own[slot.own], contract[slot.contract][slot.start : slot.stop]
            # A view may be a copy, in another order: find the place of each value.
            places = slot.view(torch.arange(target.numel()).reshape(target.shape))
            values = target.flatten().index_copy(0, places.flatten(), source.flatten())
            target.copy_(values.reshape(target.shape))


def read(found: Fit, gradients: Mapping[str, Any], name: str) -> Tensor | None:
    """Return the contract tensor `name`, collected from tensors under the module's own names; None if one is missing.

    gradients: gradients of the module's parameters, or their values from a state dict.
    """
    slots = [slot for slot in found.slots if slot.contract == name]
    if not slots or any(gradients.get(slot.own) is None for slot in slots):
        return None
    return torch.cat([slot.view(gradients[slot.own]) for slot in slots], 0)
