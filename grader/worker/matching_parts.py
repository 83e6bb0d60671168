"""Match the parts of a module with those of the contract (see `layouts`) by their structure. Their names may differ.

`blks.0.attn.q.weight` may be the contract's `blks.block0.attention.W_q.weight`: both modules are trees of the same
form. Parts with equal names are paired; the rest in order, if all can be paired: by role and size, else by size, else
by the names of their parameters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeVar

T = TypeVar("T")
Shapes = Mapping[str, tuple[int, ...]]
OwnShapes = Mapping[str, tuple[int | None, ...]]
Role = Callable[[str], str]


@dataclass
class _Part:
    """A module of a tree: its own parameters and its parts. `size`: the number of values in all of them."""

    path: str
    parameters: dict[str, str] = field(default_factory=dict)  # the last piece of a name → the whole name
    parts: dict[str, _Part] = field(default_factory=dict)
    size: int = 0

    def names(self) -> Iterator[tuple[str, str]]:
        """Yield every parameter: its name below this part, and its whole name."""
        yield from self.parameters.items()
        for segment, part in self.parts.items():
            yield from ((f"{segment}.{below}", name) for below, name in part.names())


def names_by_structure(own: Shapes, wanted: Shapes, role: Role) -> dict[str, str]:
    """Return the names that a module's parameters would have in the contract → their names in the module.

    role: returns the task of a layer by its name, such as to project the keys; "" for none. A parameter without a
    place in the contract keeps its name below the nearest part that has a place.
    """
    return dict(_renamed(_tree(_as_used(own)), _tree(wanted), role))


# Place of a part in the order in which a decoder block uses its parts → words in the part's name. (The block may
# create them in another order.) The first match counts: `enc_dec_attn` is cross-attention, which has place 1.
_PLACES = {
    1: re.compile(r"cross|inter_?att|memory|(^|_)(src|source|enc|encoder)(_|$|att)"),
    2: re.compile(r"ffn|(^|_)ff(_|$)|feed_?forward|mlp"),
    0: re.compile(r"self|masked|causal|(^|_)(dec|decoder|tgt|target)_?(attn|attention|mha)"),
}


def _as_used(shapes: Mapping[str, T]) -> dict[str, T]:
    """Return the same items; in each module, the parts whose names show a place are in the order of their use."""
    return {name: shapes[name] for name in _names_as_used(list(shapes))}


def _names_as_used(names: Sequence[str], level: int = 0) -> Iterator[str]:
    """Yield the names. Parts that have a place come in the order of use; other parts stay where they are.

    level: which segment of the names is the part: 0 is the outermost module.
    """
    parts: dict[str, list[str]] = {}
    for name in names:
        segments = name.split(".")
        parts.setdefault(segments[min(level, len(segments) - 1)], []).append(name)
    places = {part: place for part in parts if (place := _place(part)) is not None}
    in_order = iter(sorted(places, key=lambda part: places[part]))
    # A part with a place is replaced by the next one in the order of use.
    arranged = [next(in_order) if part in places else part for part in parts]
    for part in arranged:
        inner = parts[part]
        yield from inner if len(inner) == 1 else _names_as_used(inner, level + 1)


def _place(part: str) -> int | None:
    """Return the place in the order of use that a part's name shows; None if it shows none."""
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", part).lower()
    return next((place for place, words in _PLACES.items() if words.search(plain)), None)


def _tree(shapes: Shapes) -> _Part:
    root = _Part("")
    for name, shape in shapes.items():
        *segments, last = name.split(".")
        part = root
        part.size += prod(shape)
        for segment in segments:
            part = part.parts.setdefault(segment, _Part(f"{part.path}{segment}."))
            part.size += prod(shape)
        part.parameters[last] = name
    return _without_wrappers(root)


def _without_wrappers(part: _Part) -> _Part:
    """Leave out modules that hold one other module and nothing else."""
    while len(part.parts) == 1 and not part.parameters:
        (part,) = part.parts.values()
    part.parts = {segment: _without_wrappers(inner) for segment, inner in part.parts.items()}
    return part


def _renamed(own: _Part, wanted: _Part, role: Role) -> Iterator[tuple[str, str]]:
    """Yield, for each parameter, the name that it would have in the contract, and its own name."""
    pairs = _pairs(own.parts, wanted.parts, role)
    for segment, name in pairs.items():
        yield from _renamed(own.parts[segment], wanted.parts[name], role)
    for below, name in own.names():
        if below.split(".")[0] not in pairs:
            yield wanted.path + below, name


def _pairs(own: Mapping[str, _Part], wanted: Mapping[str, _Part], role: Role) -> dict[str, str]:
    """Pair the parts of two modules by name; the rest in order, by role and size, by size, or by parameter names."""
    pairs = {segment: segment for segment in own if segment in wanted}
    free = [segment for segment in own if segment not in pairs]
    left = [segment for segment in wanted if segment not in pairs]

    def equal_sizes(a: str, b: str) -> bool:
        return own[a].size == wanted[b].size

    def equal_roles(a: str, b: str) -> bool:
        return equal_sizes(a, b) and role(a) == role(b)

    def equal_names(a: str, b: str) -> bool:
        return {below for below, _ in own[a].names()} == {below for below, _ in wanted[b].names()}

    return pairs | _in_order(free, left, equal_roles, equal_sizes, equal_names)


def _in_order(free: list[str], left: list[str], *tests: Callable[[str, str], bool]) -> dict[str, str]:
    """Pair each of `free` with the first of `left` that is alike and not paired yet, by the first test with which all
    can be paired. Return {} if there is none.
    """
    for alike in tests:
        found: dict[str, str] = {}
        for segment in free:
            match = next((name for name in left if name not in found.values() and alike(segment, name)), None)
            if match is not None:
                found[segment] = match
        if len(found) == len(free) == len(left):
            return found
    return {}


def layers_in_order(own: OwnShapes, wanted: Shapes, role: Role) -> dict[str, str]:
    """Return contract names → own names, for a module with the same layers in the same order, nested in another way.

    own: the shapes of the module's parameters; a size that a lazy layer does not have yet is None. Returns {} if some
    layer has no counterpart.
    """
    mine, theirs = _layers(_as_used(own)), _layers(wanted)

    def fits(a: str, b: str) -> bool:
        return mine[a].keys() == theirs[b].keys() and all(
            _alike(own[name], wanted[theirs[b][leaf]]) for leaf, name in mine[a].items()
        )

    def also_in_role(a: str, b: str) -> bool:
        return fits(a, b) and role(_last(a)) == role(_last(b))

    found = _in_order(list(mine), list(theirs), also_in_role, fits)
    return {theirs[b][leaf]: name for a, b in found.items() for leaf, name in mine[a].items()}


def _alike(own: tuple[int | None, ...], wanted: tuple[int, ...]) -> bool:
    return len(own) == len(wanted) and all(a in (None, b) for a, b in zip(own, wanted, strict=True))


def _layers(names: Mapping[str, object]) -> dict[str, dict[str, str]]:
    """Return path of each layer → the last piece of each parameter's name → the whole name."""
    out: dict[str, dict[str, str]] = {}
    for name in names:
        path, _, leaf = name.rpartition(".")
        out.setdefault(path, {})[leaf] = name
    return out


def _last(path: str) -> str:
    return path.rpartition(".")[2]
