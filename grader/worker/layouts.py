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
from itertools import accumulate
from math import prod
from typing import Any

import torch
from torch import Tensor, nn

from grader.worker import matching_parts
from grader.worker.orientation import is_bare

View = Callable[[Tensor], Tensor]
Own = Mapping[str, Tensor]  # the parameters of a module, by their names
Shapes = Mapping[str, tuple[int, ...]]  # of the contract's weights, by their names


@dataclass(frozen=True)
class Slot:
    """Rows `start:stop` of the tensor `contract` are `view(t)`, where t is the module's parameter `own`."""

    contract: str
    own: str
    view: View = lambda t: t
    start: int = 0
    stop: int | None = None


@dataclass
class Fit:
    """Which parameters of a module belong to which names of the contract, and which are left on either side."""

    slots: list[Slot] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # names of the contract
    unexpected: list[str] = field(default_factory=list)  # names in the module
    misshapen: list[str] = field(default_factory=list)  # names of the contract
    shared: list[list[str]] = field(default_factory=list)  # pairs of contract names with the same parameter
    layout: str = ""  # found instead of the contract's, for example "projections per head"; "" if none
    # Name in `misshapen` → name in the module, if it differs.
    own_names: Mapping[str, str] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return not (self.missing or self.unexpected or self.misshapen or self.shared)


def fit(own: Own, wanted: Shapes, as_linear: Collection[str] = ()) -> Fit:
    """Match a module's parameters to the contract's names and shapes: by name, by layout, then by structure.

    as_linear: bare (see `is_bare`) square parameters that are (out, in), as the weight of a linear layer is.
    """
    if as_linear and not _by_name(own, wanted).complete:
        # With `.weight` at its end, a name is not bare, so the parameter is not transposed.
        names = {f"{name}.weight" if name in as_linear else name: name for name in own}
        return _renamed(names, own, wanted, fit)
    found = _by_layout(own, wanted)
    if found.complete:
        return found
    shapes = {name: tuple(t.shape) for name, t in own.items()}
    placed = _renamed(matching_parts.names_by_structure(shapes, wanted, _role), own, wanted, _by_layout)
    if not placed.complete and (names := matching_parts.layers_in_order(shapes, wanted, _role)):
        placed = _renamed(names, own, wanted, _by_layout)
    return placed if len(placed.slots) > len(found.slots) else found


def _renamed(names: Mapping[str, str], own: Own, wanted: Shapes, match: Callable[[Own, Shapes], Fit]) -> Fit:
    """Match the parameters under other names; return the fit with the module's own. names: other name → own name.

    A module with all names of the contract has no other names, even if the shapes of two are exchanged.
    """
    placed = match({name: own[mine] for name, mine in names.items()}, wanted)
    other_names = "" if {*names.values()} == names.keys() else "other names"
    return replace(
        placed,
        slots=[replace(slot, own=names[slot.own]) for slot in placed.slots],
        unexpected=[names.get(name, name) for name in placed.unexpected],
        own_names={name: names.get(placed.own_names.get(name, name), name) for name in placed.misshapen},
        layout=placed.layout or other_names,
    )


def _by_layout(own: Own, wanted: Shapes) -> Fit:
    """Match by name, and the rest of each module by the first layout that fits. If something is then left, match only
    by name.
    """
    by_name = _by_name(own, wanted)
    if by_name.complete:
        return by_name
    slots = list(by_name.slots)
    used = {slot.own for slot in slots}
    layouts = set()
    for prefix, group in _groups(by_name.missing + by_name.misshapen).items():
        rest = {name: t for name, t in own.items() if name not in used and name.startswith(prefix)}
        for layout, match in _LAYOUTS:
            found = match(prefix, {n: wanted[n] for n in group}, rest)
            if found:
                slots += found
                used |= {slot.own for slot in found}
                layouts.add(layout)
                break
    covered = {slot.contract for slot in slots}
    if layouts and covered >= wanted.keys() and used >= own.keys():
        return Fit(slots=slots, layout=", ".join(sorted(layouts)), shared=_shared(slots, own))
    return by_name


def _shared(slots: list[Slot], own: Own) -> list[list[str]]:
    """Return pairs of contract names that share one parameter, which has two names in the module."""
    seen: dict[int, Slot] = {}
    pairs = []
    for slot in slots:
        first = seen.setdefault(id(own[slot.own]), slot)
        if first.own != slot.own:
            pairs.append((first.contract, slot.contract))
    return [list(pair) for pair in dict.fromkeys(pairs)]


def _by_name(own: Own, wanted: Shapes) -> Fit:
    out = Fit(unexpected=[name for name in own if name not in wanted])
    for name, shape in wanted.items():
        if name not in own:
            out.missing.append(name)
        elif tuple(own[name].shape) == (*shape, 1):  # the contract's name on a 1×1 convolution
            out.slots.append(Slot(name, name, lambda t: t[..., 0]))
            out.layout = "1×1 convolutions"
        elif tuple(own[name].shape) != shape:
            out.misshapen.append(name)
        else:
            out.slots.append(Slot(name, name))
    out.shared = _shared(out.slots, own)
    return out


def _groups(names: list[str]) -> dict[str, list[str]]:
    """Group contract names by the module that holds their layers: "blks.block0.attention." → [its names]."""
    out: dict[str, list[str]] = {}
    for name in names:
        parts = name.split(".")
        out.setdefault("".join(f"{part}." for part in parts[:-2]), []).append(name)
    return out


_ROLES = (
    ("q", re.compile(r"(^|[._])(to_?|w_?|linear_?|lin_?|proj_?)?q(s|uery|ueries)?(_?(proj|linear|lin|weights?|w|net|layer|heads?))?($|[._\d])")),
    ("k", re.compile(r"(^|[._])(to_?|w_?|linear_?|lin_?|proj_?)?k(s|ey|eys)?(_?(proj|linear|lin|weights?|w|net|layer|heads?))?($|[._\d])")),
    ("v", re.compile(r"(^|[._])(to_?|w_?|linear_?|lin_?|proj_?)?v(s|al|als|alue|alues)?(_?(proj|linear|lin|weights?|w|net|layer|heads?))?($|[._\d])")),
    ("o", re.compile(r"(^|[._])(fc_?out|(to_?|w_?|linear_?|lin_?|proj_?|fc_?)?o(ut|utput)?(_?(proj|linear|lin|weights?|w|net|layer))?)($|[._\d])|(^|\.)(c_)?proj($|[.\d])")),
)  # fmt: skip


def _role(name: str) -> str:
    """Return the projection that a parameter's name refers to: q, k, v, o or ""."""
    plain = re.sub(r"(^|\.)(weight|bias)$", "", name.lower()).rstrip(".")
    found = [role for role, pattern in _ROLES if pattern.search(plain)]
    return found[0] if len(found) == 1 else ""


def _is_bias(name: str) -> bool:
    """Whether a name is that of a bias: bias, beta, shift, b_q, b2, b.W_q."""
    return bool(re.search(r"bias|(^|[._])(beta|shift|b_?[qkvo\d]?)$|(^|\.)b\.", name.lower()))


def _projections(group: Shapes) -> dict[tuple[str, bool], str]:
    """Return (role, is_bias) → contract name, for the names in `group` that have a role."""
    out = {}
    for name in group:
        role = _role(name.rpartition(".")[0].rpartition(".")[2])
        if role:
            out[role, name.endswith(".bias")] = name
    return out


# How a parameter may hold a weight of the contract: its axes, the contract's, and which parameters this is true of.
# Axes in one word are joined; 1 is an axis of size one. h, d: heads and features per head; o, i: out and in.
_VIEWS = (
    ("io", "o i", "bare"),  # `x @ W`
    ("oi", "o i", ""),
    ("o", "o", ""),
    ("i", "1 i", ""),
    ("oi1", "o i", ""),  # a 1×1 convolution
    ("o1", "o", ""),
    ("hd", "hd", "heads"),
    ("hdo", "o hd", "heads of o"),
    ("hid", "hd i", "heads of qkv"),
    ("hdi", "hd i", "heads of qkv"),
    ("ihd", "hd i", "heads of qkv"),
)


def _view(axes: str, contract: str, parameter: Tensor) -> Tensor:
    """Return a parameter with the axes of a row of _VIEWS in the contract's order."""
    sizes = dict(zip(axes, parameter.shape, strict=True))
    words = contract.split()
    order = [axes.index(axis) for axis in "".join(words) if axis in axes]
    order += [at for at in range(len(axes)) if at not in order]
    return parameter.permute(order).reshape([prod(sizes.get(axis, 1) for axis in word) for word in words])


def _one(name: str, shape: tuple[int, ...], mine: str, own: Own, *of: str) -> list[Slot]:
    """Fit the parameter `mine` to the contract's `name` by the first row of _VIEWS that gives this shape.

    of: which rows may be used, besides those for all parameters.
    """
    held = own[mine]
    for axes, contract, what in _VIEWS:
        usable = what in ("", *of) or (what == "bare" and is_bare(mine))
        if usable and len(axes) == held.dim() and ("1" not in axes or held.shape[axes.index("1")] == 1):
            view = partial(_view, axes, contract)
            if view(held).shape == shape:
                return [Slot(name, mine, view)]
    return []


def _per_head(name: str, shape: tuple[int, ...], mine: Sequence[str], own: Own) -> list[Slot]:
    """Fit one parameter per head, in the order of the numbers at the ends of the segments of their names."""
    # (0, 12) for "heads.0.q12".
    numbered = sorted(mine, key=lambda one: [int(n) for n in re.findall(r"(?<!\d)\d++(?=\.|$)", one)])
    rows = shape[0] // max(len(mine), 1)
    if any(tuple(own[one].shape) != (rows, *shape[1:]) for one in mine):
        return []
    return [Slot(name, one, start=h * rows, stop=(h + 1) * rows) for h, one in enumerate(numbered)]


def _by_role(heads: bool, prefix: str, group: Shapes, own: Own) -> list[Slot]:
    """Fit each matrix to the parameters whose names show its role. heads: whether they may belong to single heads."""
    slots: list[Slot] = []
    for (role, bias), name in _projections(group).items():
        mine = [n for n in own if _role(n[len(prefix) :]) == role and _is_bias(n) == bias]
        if len(mine) == 1:
            of_heads = ("heads", "heads of o" if role == "o" else "heads of qkv")
            found = _one(name, group[name], mine[0], own, *(of_heads if heads else ()))
        else:
            found = _per_head(name, group[name], mine, own) if heads else []
        if not found:
            return []
        slots += found
    return slots


def _joined(roles: str, axis: int, prefix: str, group: Shapes, own: Own) -> list[Slot]:
    """Fit one parameter for the matrices of several roles, joined along an axis, and the other layers beside it."""
    wanted = _projections(group)
    slots: list[Slot] = []
    for bias in (False, True):
        parts = [wanted[role, bias] for role in roles if (role, bias) in wanted]
        shapes = [list(group[name]) for name in parts]
        if not parts:
            continue
        if len(shapes[0]) <= axis:  # a bias has no columns
            return []
        lengths = [shape.pop(axis) for shape in shapes]
        whole = _only((*shapes[0][:axis], sum(lengths), *shapes[0][axis:]), bias, own)
        if whole and len(parts) == len(roles) and all(shape == shapes[0] for shape in shapes):
            starts = accumulate(lengths, initial=0)
            found = [
                Slot(name, whole, partial(torch.narrow, dim=axis, start=start, length=length))
                for name, start, length in zip(parts, starts, lengths, strict=False)
            ]
        else:  # `nn.MultiheadAttention` with kdim or vdim has only fused biases
            found = _by_role(False, prefix, {name: group[name] for name in parts}, own)
        if not found or len(parts) < len(roles):
            return []
        slots += found
    used = {slot.own for slot in slots}
    if len(used) == len(slots):  # nothing is joined
        return []
    left = {n: t for n, t in own.items() if n not in used}
    for name in (name for name in group if name not in {slot.contract for slot in slots}):
        if mine := _only(group[name], name.endswith(".bias"), left):
            slots.append(Slot(name, mine))
            del left[mine]
    return slots


def _only(shape: tuple[int, ...], bias: bool, own: Own) -> str:
    """Return the only parameter of this shape that is, or is not, a bias; "" if there is none, or several."""
    found = [n for n, t in own.items() if tuple(t.shape) == shape and _is_bias(n) == bias]
    return found[0] if len(found) == 1 else ""


def _in_order(prefix: str, group: Shapes, own: Own) -> list[Slot]:
    """Fit the same shapes in the same order under any names; biases separately, if the names show them."""
    # A parameter with a name of the contract is that weight, with a wrong shape: do not match by order.
    if len(own) != len(group) or own.keys() & group.keys():
        return []
    names, mine = list(group), list(own)
    if sum(map(_is_bias, names)) == sum(map(_is_bias, mine)):
        names, mine = sorted(names, key=_is_bias), sorted(mine, key=_is_bias)
    found = [_one(name, group[name], one, own) for name, one in zip(names, mine, strict=True)]
    return [slot for one in found for slot in one] if all(found) else []


# Each function gets the prefix of the names, the contract's weights to fit, and the parameters that are left.
_LAYOUTS: tuple[tuple[str, Callable[[str, Shapes, Own], list[Slot]]], ...] = (
    ("other names", partial(_by_role, False)),
    ("one fused projection", partial(_joined, "qkv", 0)),
    ("one layer over the joined queries and keys", partial(_joined, "qk", 1)),
    ("projections per head", partial(_by_role, True)),
    ("other names, same order", _in_order),
)


def fill_lazy_layers(module: nn.Module, contract: Mapping[str, Tensor]) -> None:
    """Give lazy layers their sizes and weights, by name or else in the order of the layers."""
    module.load_state_dict(contract, strict=False)
    own: dict[str, tuple[int | None, ...]] = {}
    for path, layer in module.named_modules():
        prefix = f"{path}." if path else ""
        out = layer.out_features if isinstance(layer, nn.LazyLinear) else None
        for leaf, parameter in layer.named_parameters(recurse=False):
            if not isinstance(parameter, nn.UninitializedParameter):
                own[prefix + leaf] = tuple(parameter.shape)
            else:
                own[prefix + leaf] = (out, None) if leaf == "weight" else (out,)
    names = matching_parts.layers_in_order(own, {n: tuple(t.shape) for n, t in contract.items()}, _role)
    module.load_state_dict({mine: contract[name] for name, mine in names.items()}, strict=False)


def write(found: Fit, own: Own, contract: Mapping[str, Tensor]) -> None:
    """Fill the module's parameters from the contract's tensors. Fill the unexpected and the misshapen ones with fixed
    values, so that every run is the same.
    """
    with torch.no_grad():
        for name in (*found.unexpected, *found.misshapen):
            target = own[found.own_names.get(name, name)]
            numbers = torch.arange(target.numel(), dtype=torch.float64)
            target.copy_(torch.cos(numbers).reshape(target.shape) / 2)
        for slot in found.slots:
            target, source = own[slot.own], contract[slot.contract][slot.start : slot.stop]
            view = slot.view(target)
            if view.untyped_storage().data_ptr() == target.untyped_storage().data_ptr():
                view.copy_(source)
            else:  # the view is a copy, in another order: find the place of each value
                places = slot.view(torch.arange(target.numel()).reshape(target.shape))
                target.copy_(source.flatten()[places.flatten().argsort()].reshape(target.shape))


def read(found: Fit, gradients: Mapping[str, Any], name: str) -> Tensor | None:
    """Return the contract tensor `name`, collected from tensors under the module's own names; None if one is missing.

    gradients: gradients of the module's parameters, or their values from a state dict.
    """
    parts = []
    for slot in found.slots:
        if slot.contract == name:
            gradient = gradients.get(slot.own)
            if gradient is None:
                return None
            parts.append(slot.view(gradient))
    return torch.cat(parts, 0) if parts else None
