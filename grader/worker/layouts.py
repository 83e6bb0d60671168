"""Find the contract's weights in a module with another layout.

The *contract* is the names and shapes of the weights that a case loads.

A correct attention may have its projections as one fused matrix, as a small Linear per head, as three-dimensional
parameters, as 1×1 convolutions, or inside `nn.MultiheadAttention`. Each of these rearranges the contract's
matrices. So each is described by *slots*: rows of a contract tensor, and a view of a parameter of the module with
the same values. Loading writes through the view; reading a gradient reads through it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate, product
from math import prod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from grader.worker.matching_parts import Named, Shape, Shapes, layers_in_order, names_by_structure
from grader.worker.parameter_names import is_bare, is_bias, role

OTHER_NAMES, SAME_ORDER = "other names", "other names, same order"
PER_HEAD, CONVOLUTION = "projections per head", "1×1 convolutions"


@dataclass(frozen=True)
class Slot:
    """The rows of the tensor `contract` from `start`, of this shape, are the values of `view(t)`, where t is the
    module's parameter `own`.
    """

    contract: str
    own: str
    shape: Shape
    view: Callable[[Tensor], Tensor] = lambda t: t
    start: int = 0
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


def fit(own: Mapping[str, Tensor], wanted: Shapes, as_linear: Collection[str] = ()) -> Fit:
    """Match a module's parameters to the contract's names and shapes: by their names and layouts, else by the structure
    of the module, else in the order of its layers.

    as_linear: bare (see `is_bare`) square parameters that are (out, in), as the weight of a linear layer is.
    """
    # With `.weight` at its end, a name is not bare.
    held = {
        f"{n}.weight" if n in as_linear and n not in wanted else n: (n, tuple(t.shape))
        for n, t in own.items()
    }
    tried = []
    # A parameter may have a second name, such as that of a layer with the weight of an embedding.
    first = {id(t): n for n, t in reversed([*own.items()])}
    once = {n: t for n, t in own.items() if first[id(t)] == n}
    for all_own in [own, once] if len(once) < len(own) else [own]:
        named = {n: one for n, one in held.items() if one[0] in all_own}
        for match in (lambda held, _wanted: held, names_by_structure, layers_in_order):
            tried.append(_by_layout(match(named, wanted), wanted, all_own))
            if tried[-1].complete:
                return tried[-1]
    return max(tried, key=lambda found: len(found.slots))


def _by_layout(held: Named, wanted: Shapes, own: Mapping[str, Tensor]) -> Fit:
    """Match by name, and the rest of each module by role or in order. If something is then left, match only by name."""
    expected = {mine for name, (mine, _) in held.items() if name in wanted}
    found = Fit(unexpected=[mine for mine in own if mine not in expected])
    for name, shape in wanted.items():
        if name not in held:
            found.missing.append(name)
        elif slots := _one(name, shape, name, held):
            found.slots += slots
        else:
            found.misshapen[name] = held[name][0]
    left, slots = [*found.missing, *found.misshapen], list(found.slots)
    for prefix in dict.fromkeys(map(_holder, left)):
        group = {name: wanted[name] for name in left if _holder(name) == prefix}
        used = {slot.own for slot in slots}
        near = {name: one for name, one in held.items() if name.startswith(prefix) and one[0] not in used}
        slots += _by_role(prefix, group, near) or _in_order(group, near)
    if {slot.contract for slot in slots} == wanted.keys() and {slot.own for slot in slots} == own.keys():
        found = Fit(slots)
    found.shared = _shared(found.slots, own)
    return found


def _shared(slots: Sequence[Slot], own: Mapping[str, Tensor]) -> list[list[str]]:
    """Return pairs of contract names that share one parameter, which has two names in the module."""
    firsts: dict[int, Slot] = {}
    pairs = [(firsts.setdefault(id(own[slot.own]), slot), slot) for slot in slots]
    named = dict.fromkeys((a.contract, b.contract) for a, b in pairs if a.own != b.own)
    return [list(pair) for pair in named]


def _holder(name: str) -> str:
    """Return the module that holds the layer of a weight, with a dot at its end: "blks.block0.attention."."""
    return "".join(f"{part}." for part in name.split(".")[:-2])


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


def _one(name: str, shape: Shape, mine: str, held: Named, of: str = "") -> list[Slot]:
    """Fit the parameter `mine` to the contract's `name` by the first row of _VIEWS that gives this shape. of: its role."""
    own, sizes = held[mine]
    if mine == name and sizes == shape:
        return [Slot(name, own, shape)]
    for axes, contract, roles, layout in _VIEWS:
        usable = (not roles or (of and of in roles)) and (axes != "io" or (is_bare(mine) and mine != name))
        if usable and len(axes) == len(sizes):
            lengths = dict(zip(axes, sizes, strict=True))
            joined = tuple(prod(lengths.get(axis, 1) for axis in word) for word in contract.split())
            if joined == shape and lengths.get("1", 1) == 1:
                order = [axes.index(axis) for axis in contract if axis in axes]
                order += [at for at in range(len(axes)) if at not in order]
                return [Slot(name, own, shape, partial(torch.permute, dims=order), layout=layout)]
    return []


def _of_role(name: str, shape: Shape, mine: Sequence[str], near: Named, of: str) -> list[Slot]:
    """Fit one parameter, or one per head in the order of the numbers at the ends of the segments of their names."""
    # (0, 12) for "heads.0.q12".
    numbered = sorted(mine, key=lambda one: [int(n) for n in re.findall(r"(?<!\d)\d++(?=\.|$)", one)])
    rows = shape[0] // max(len(mine), 1)
    found = [_one(name, (rows, *shape[1:]), one, near, of) for one in numbered]
    slots = [replace(slot, start=h * rows) for h, one in enumerate(found) for slot in one]
    if len(slots) * rows != shape[0]:
        return []
    return slots if len(mine) == 1 else [replace(slot, layout=PER_HEAD) for slot in slots]


# Projections whose matrices may be one parameter: their roles, the axis, and the name of the layout.
_JOINED = (
    ("qkv", 0, "one fused projection"),
    ("qk", 1, "one layer over the joined queries and keys"),
    ("kv", 0, "one projection of keys and values"),
    ("gu", 0, "one layer for gate and up"),
)


def _joined(names: Sequence[str], axis: int, layout: str, group: Shapes, near: Named) -> list[Slot]:
    """Fit weights to the only parameter that has their shape, joined along an axis."""
    try:
        whole = torch.cat([torch.empty(group[name], device="meta") for name in names], axis).shape
    except (IndexError, RuntimeError):  # a bias has no columns, and other sizes cannot be joined
        return []
    bias = is_bias(names[0])
    found = [own for mine, (own, sizes) in near.items() if sizes == whole and is_bias(mine) == bias]
    if len(found) != 1:
        return []
    lengths = [group[name][axis] for name in names]
    views = (
        partial(torch.narrow, dim=axis, start=start, length=length)
        for start, length in zip(accumulate(lengths, initial=0), lengths, strict=False)
    )
    return [
        Slot(name, found[0], group[name], view, layout=layout)
        for name, view in zip(names, views, strict=True)
    ]


def _by_role(prefix: str, group: Shapes, near: Named) -> list[Slot]:
    """Fit each projection to the parameters whose names show its role, else several to one parameter; then the weights
    beside it to the only parameter of their shape. Return [] if one does not fit.
    """
    roles = {name: (role(name.rpartition(".")[0].rpartition(".")[2]), is_bias(name)) for name in group}
    shown = {mine: (role(mine[len(prefix) :]), is_bias(mine)) for mine in near}
    found: dict[str, list[Slot]] = {}
    for name, of in roles.items():
        mine = [one for one in near if of[0] and shown[one] == of]
        found[name] = _of_role(name, group[name], mine, near, of[0])
    inside = ""  # the roles of the projections that one parameter holds
    for (joined, axis, layout), bias in product(_JOINED, (False, True)):
        names = [name for of in joined for name in group if roles[name] == (of, bias)]
        if len(names) == len(joined) and not all(map(found.get, names)):
            slots = _joined(names, axis, layout, group, _unused(near, found))
            found |= {slot.contract: [slot] for slot in slots}
            inside = joined if slots else inside
    for name in group:
        if inside and not found[name] and (not roles[name][0] or roles[name][0] not in inside):
            found[name] = _joined([name], 0, "", group, _unused(near, found))
    return [slot for slots in found.values() for slot in slots] if all(found.values()) else []


def _unused(near: Named, found: Mapping[str, list[Slot]]) -> Named:
    used = {slot.own for slots in found.values() for slot in slots}
    return {mine: one for mine, one in near.items() if one[0] not in used}


def _in_order(group: Shapes, near: Named) -> list[Slot]:
    """Fit the same shapes in the same order under any names; biases separately, if the names show them."""
    # A parameter with a name of the contract is that weight, with a wrong shape: do not match by order.
    if len(near) != len(group) or near.keys() & group.keys():
        return []
    names, mine = list(group), list(near)
    if sum(map(is_bias, names)) == sum(map(is_bias, mine)):
        names, mine = sorted(names, key=is_bias), sorted(mine, key=is_bias)
    found = [_one(name, group[name], one, near) for name, one in zip(names, mine, strict=True)]
    return [replace(slot, layout=SAME_ORDER) for one in found for slot in one] if all(found) else []


def fill_lazy_layers(module: nn.Module, contract: Mapping[str, Tensor]) -> None:
    """Give lazy layers their sizes and weights, by name or else in the order of the layers."""
    module.load_state_dict(contract, strict=False)
    own: dict[str, tuple[str, Shape]] = {}
    for path, layer in module.named_modules():
        out = layer.out_features if isinstance(layer, nn.LazyLinear) else None
        for name, parameter in layer.named_parameters(path, recurse=False):
            lazy = (out, None) if name.endswith("weight") else (out,)
            own[name] = name, lazy if is_lazy(parameter) else tuple(parameter.shape)
    found = layers_in_order(own, {name: tuple(t.shape) for name, t in contract.items()})
    module.load_state_dict({mine: contract[name] for name, (mine, _) in found.items()}, strict=False)


def write(found: Fit, own: Mapping[str, Tensor], contract: Mapping[str, Tensor]) -> None:
    """Fill the module's parameters from the contract's tensors. Fill the unexpected and the misshapen ones with fixed
    values, so that every run is the same.
    """
    with torch.no_grad():
        for name in (*found.unexpected, *found.misshapen.values()):
            numbers = torch.arange(own[name].numel(), dtype=torch.float64)
            own[name].copy_(torch.cos(numbers).reshape(own[name].shape) / 2)
        for slot in found.slots:
            view = slot.view(own[slot.own])
            rows = contract[slot.contract].narrow(0, slot.start, slot.shape[0])
            view.copy_(rows.reshape(view.shape))


def read(found: Fit, gradients: Mapping[str, Any], name: str) -> Tensor | None:
    """Return the contract tensor `name`, collected from tensors under the module's own names; None if one is missing.

    gradients: gradients of the module's parameters, or their values from a state dict.
    """
    slots = [slot for slot in found.slots if slot.contract == name]
    if not slots or any(gradients.get(slot.own) is None for slot in slots):
        return None
    return torch.cat([slot.view(gradients[slot.own]).reshape(slot.shape) for slot in slots], 0)
