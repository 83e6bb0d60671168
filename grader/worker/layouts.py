"""Find the contract's weights in a module with another layout.

The *contract* is the names and shapes of the weights that a case loads.

A correct attention may have its projections as one fused matrix, as a small Linear per head, as three-dimensional
parameters, as 1×1 convolutions, or inside `nn.MultiheadAttention`. Each of these rearranges the contract's
matrices. So each is described by *slots*: rows of a contract tensor, and a view of a parameter of the module with
the same values. Loading writes through the view; reading a gradient reads through it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter
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
        return _under_own_names(fit({name: own[mine] for name, mine in names.items()}, wanted), names)
    found = _by_layout(own, wanted)
    if found.complete:
        return found
    shapes = {name: tuple(t.shape) for name, t in own.items()}
    names = matching_parts.names_by_structure(shapes, wanted, _role)
    placed = _by_layout({name: own[mine] for name, mine in names.items()}, wanted)
    if not placed.complete:
        names = matching_parts.layers_in_order(shapes, wanted, _role) or names
        placed = _by_layout({name: own[mine] for name, mine in names.items()}, wanted)
    if len(placed.slots) > len(found.slots):
        return _under_own_names(placed, names)
    return found


def _under_own_names(placed: Fit, names: Mapping[str, str]) -> Fit:
    """Return the same fit with the module's own names. names: the name in `placed` → the module's own name.

    A module with all names of the contract has no other names, even if the shapes of two are exchanged.
    """
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


def _fused(prefix: str, group: Shapes, own: Own) -> list[Slot]:
    """Fit one matrix for queries, keys and values, in this order, and the output projection beside it."""
    wanted = _projections(group)
    slots: list[Slot] = []
    for bias in (False, True):
        parts = [wanted.get((role, bias)) for role in "qkv"]
        if not any(parts):
            continue
        if not all(parts):
            return []
        shapes = [group[name] for name in parts if name]
        rows = sum(shape[0] for shape in shapes)
        names = [
            n for n, t in own.items() if tuple(t.shape) == (rows, *shapes[0][1:]) and _is_bias(n) == bias
        ]
        if len(names) != 1 or len(set(shapes)) != 1:
            # `nn.MultiheadAttention` with kdim or vdim has only fused biases.
            apart = _renamed(prefix, {name: group[name] for name in parts if name}, own)
            if not apart:
                return []
            slots += apart
            continue
        at = 0
        for name, shape in zip(parts, shapes, strict=True):
            assert name is not None
            slots.append(Slot(name, names[0], itemgetter(slice(at, at + shape[0]))))
            at += shape[0]
    if not slots:
        return []
    return slots + _renamed_output(wanted, group, own, slots)


def _renamed_output(
    wanted: Mapping[tuple[str, bool], str], group: Shapes, own: Own, slots: list[Slot]
) -> list[Slot]:
    """Fit the output projection under any name. slots: those of the other projections."""
    used = {slot.own for slot in slots}
    out = []
    for bias in (False, True):
        name = wanted.get(("o", bias))
        if name is None:
            continue
        fits = [
            n
            for n, t in own.items()
            if n not in used and tuple(t.shape) == group[name] and _is_bias(n) == bias
        ]
        if len(fits) == 1:
            out.append(Slot(name, fits[0]))
    return out


def _renamed(prefix: str, group: Shapes, own: Own) -> list[Slot]:
    """Fit the same matrices under other names: as Linear, Conv1d(kernel_size=1) or a bare (in, out) parameter."""
    slots = []
    for (role, bias), name in _projections(group).items():
        fits = [n for n in own if _role(n[len(prefix) :]) == role and _is_bias(n) == bias]
        view = _same_numbers(own[fits[0]], group[name], fits[0]) if len(fits) == 1 else None
        if view is None:
            return []
        slots.append(Slot(name, fits[0], view))
    return slots


def _same_numbers(own: Tensor, shape: tuple[int, ...], name: str) -> View | None:
    """Return a view of `own` with the contract's shape, if a usual layout gives one; None otherwise."""
    size = tuple(own.shape)
    if is_bare(name) and len(shape) == 2 and size == shape[::-1]:  # `x @ W` needs (in, out)
        return lambda t: t.T
    if shape == (1, *size):  # a product with one vector
        return lambda t: t[None]
    if size == shape:
        return lambda t: t
    if size == (*shape, 1):
        return lambda t: t[..., 0]
    return None


def _heads(prefix: str, group: Shapes, own: Own) -> list[Slot]:
    """Fit small projections per head: a list of Linear layers, or one three-dimensional parameter."""
    slots: list[Slot] = []
    for (role, bias), name in _projections(group).items():
        mine = {n: t for n, t in own.items() if _role(re.sub(r"\.\d+(?=\.|$)", "", n[len(prefix) :])) == role}
        mine = {n: t for n, t in mine.items() if _is_bias(n) == bias}
        found = _one_of_heads(name, group[name], mine)
        if not found:
            return []
        slots += found
    return slots


def _one_of_heads(name: str, shape: tuple[int, ...], mine: Own) -> list[Slot]:
    """Fit the contract tensor `name`. mine: the parameters with its role, one for all heads or one per head."""
    if len(mine) == 1:
        own, tensor = next(iter(mine.items()))
        view = _same_numbers(tensor, shape, own)
        if view is not None:
            return [Slot(name, own, view)]
        return _three_axes(name, shape, own, tensor)
    # By the numbers at the ends of the segments of a name: (0, 12) for "heads.0.q12".
    numbered = sorted(mine, key=lambda own: [int(n) for n in re.findall(r"(?<!\d)\d++(?=\.|$)", own)])
    if not numbered or any(tuple(mine[n].shape) != (shape[0] // len(numbered), *shape[1:]) for n in numbered):
        return []
    rows = shape[0] // len(numbered)
    return [Slot(name, own, start=h * rows, stop=(h + 1) * rows) for h, own in enumerate(numbered)]


def _three_axes(name: str, shape: tuple[int, ...], own: str, tensor: Tensor) -> list[Slot]:
    """Fit one parameter for all heads: (H, in, d), (H, d, in), (in, H, d); output: (H, d, out); biases: (H, d)."""
    if len(shape) == 1 and tensor.dim() == 2 and tensor.numel() == shape[0]:
        d = tensor.shape[1]
        return [Slot(name, own, itemgetter(h), h * d, (h + 1) * d) for h in range(tensor.shape[0])]
    if tensor.dim() != 3 or len(shape) != 2 or tensor.numel() != shape[0] * shape[1]:
        return []
    heads, a, b = tensor.shape
    if _role(name.split(".")[-2]) == "o":
        # (H, d, out): rows of the contract are outputs, so all heads fill all rows.
        if heads * a == shape[1] and b == shape[0]:
            return [Slot(name, own, lambda t: t.permute(2, 0, 1).reshape(t.shape[2], -1))]
        return []
    if heads * b == shape[0] and a == shape[1]:  # (H, in, d)
        return [Slot(name, own, _turned(h), h * b, (h + 1) * b) for h in range(heads)]
    if heads * a == shape[0] and b == shape[1]:  # (H, d, in)
        return [Slot(name, own, itemgetter(h), h * a, (h + 1) * a) for h in range(heads)]
    if heads == shape[1] and a * b == shape[0]:  # (in, H, d): `heads` is in, `a` is H
        return [Slot(name, own, _turned((slice(None), h)), h * b, (h + 1) * b) for h in range(a)]
    return []


def _turned(index: Any) -> View:
    return lambda t: t[index].T


def _in_order(prefix: str, group: Shapes, own: Own) -> list[Slot]:
    """Fit the same shapes in the same order under any names; biases separately, if the names show them."""
    # A parameter with a name of the contract is that weight, with a wrong shape: do not match by order.
    if len(own) != len(group) or own.keys() & group.keys():
        return []
    names, mine = list(group), list(own)
    if sum(map(_is_bias, names)) == sum(map(_is_bias, mine)):
        names, mine = sorted(names, key=_is_bias), sorted(mine, key=_is_bias)
    slots = []
    for name, found in zip(names, mine, strict=True):
        view = _same_numbers(own[found], group[name], found)
        if view is None:
            return []
        slots.append(Slot(name, found, view))
    return slots


# Each function gets the prefix of the names, the contract's weights to fit, and the parameters that are left.
_LAYOUTS: tuple[tuple[str, Callable[[str, Shapes, Own], list[Slot]]], ...] = (
    ("other names", _renamed),
    ("one fused projection", _fused),
    ("projections per head", _heads),
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
    """Fill the module's parameters from the contract's tensors."""
    with torch.no_grad():
        for slot in found.slots:
            target, source = own[slot.own], contract[slot.contract][slot.start : slot.stop]
            view = slot.view(target)
            if view.untyped_storage().data_ptr() == target.untyped_storage().data_ptr():
                view.copy_(source)
            else:  # the view copied a (H, d, out) parameter that is not contiguous: rearrange `source`
                target.copy_(source.reshape(source.shape[0], target.shape[0], -1).permute(1, 2, 0))


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
