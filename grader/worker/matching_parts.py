"""Match the parts of a module with those of the contract (see `layouts`) by their structure. Their names may differ.

`blks.0.attn.q.weight` may be the contract's `blks.block0.attention.W_q.weight`: both modules are trees of the same
form. Parts with equal names are paired; the rest in order, if all can be paired: by size, else by the names of their
parameters, and if possible so that their roles are equal, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

from grader.worker.parameter_names import as_used, role

Shape = tuple[Any, ...]  # of int, or None: a size that a lazy layer does not have yet
Inside = Mapping[str, tuple[str, Shape]]  # name of a parameter below a part → its whole name, and its shape


def names_by_structure(own: Mapping[str, Shape], wanted: Mapping[str, Shape]) -> dict[str, str]:
    """Return the names that a module's parameters would have in the contract → their names in the module.

    A parameter without a place in the contract keeps its name below the nearest part that has a place.
    """
    return dict(_renamed(_inside(own), _inside(wanted)))


def layers_in_order(own: Mapping[str, Shape], wanted: Mapping[str, Shape]) -> dict[str, str]:
    """Return contract names → own names, for a module with the same layers in the same order, nested in another way.

    Returns {} if some layer has no counterpart.
    """
    mine, theirs = (dict(_layers("", _inside(shapes))) for shapes in (own, wanted))
    pairs = _in_order(mine, theirs, _equal_shapes)
    return {theirs[b][leaf][0]: name for a, b in pairs.items() for leaf, (name, _shape) in mine[a].items()}


def _inside(shapes: Mapping[str, Shape]) -> Inside:
    return _unwrapped({name: (name, shape) for name, shape in shapes.items()})


def _unwrapped(names: Inside) -> Inside:
    """Leave out modules that hold one other module and nothing else."""
    while len({name.partition(".")[0] for name in names}) == 1 and all("." in name for name in names):
        names = {name.partition(".")[2]: parameter for name, parameter in names.items()}
    return names


def _parts(names: Inside) -> dict[str, Inside]:
    """Return the parts of a module, in the order of their use."""
    parts: dict[str, dict[str, tuple[str, Shape]]] = {}
    for name, parameter in names.items():
        part, _, below = name.partition(".")
        if below:
            parts.setdefault(part, {})[below] = parameter
    return {part: _unwrapped(inner) for part, inner in as_used(parts).items()}


def _layers(path: str, names: Inside) -> Iterator[tuple[str, Inside]]:
    """Yield the path of each layer in a module, and what it holds itself."""
    if here := {name: parameter for name, parameter in names.items() if "." not in name}:
        yield path, here
    for part, inner in _parts(names).items():
        yield from _layers(f"{path}.{part}", inner)


def _renamed(own: Inside, wanted: Inside) -> Iterator[tuple[str, str]]:
    """Yield, for each parameter, the name that it would have in the contract, and its own name."""
    path = next((name.removesuffix(below) for below, (name, _shape) in wanted.items()), "")
    mine, theirs = _parts(own), _parts(wanted)
    pairs = {part: part for part in mine if part in theirs}
    free = {part: inner for part, inner in mine.items() if part not in pairs}
    left = {part: inner for part, inner in theirs.items() if part not in pairs}
    pairs |= _in_order(free, left, _equal_sizes, _equal_names)
    for part, name in pairs.items():
        yield from _renamed(mine[part], theirs[name])
    for below, (name, _shape) in own.items():
        if below.partition(".")[0] not in pairs:
            yield path + below, name


def _in_order(
    own: Mapping[str, Inside], wanted: Mapping[str, Inside], *tests: Callable[[Inside, Inside], bool]
) -> dict[str, str]:
    """Pair each part with the first one that is alike and not paired yet, by the first test with which all can be
    paired. Return {} if there is none.
    """
    for alike, in_role in product(tests, (True, False)):
        found: dict[str, str] = {}
        for a, inner in own.items():
            left = (b for b in wanted if b not in found.values() and alike(inner, wanted[b]))
            match = next((b for b in left if not in_role or _role(a) == _role(b)), None)
            if match is not None:
                found[a] = match
        if len(found) == len(own) == len(wanted):
            return found
    return {}


def _role(path: str) -> str:
    return role(path.rpartition(".")[2])


def _equal_sizes(own: Inside, wanted: Inside) -> bool:
    mine, theirs = (sum(prod(shape) for _name, shape in part.values()) for part in (own, wanted))
    return mine == theirs


def _equal_names(own: Inside, wanted: Inside) -> bool:
    return own.keys() == wanted.keys()


def _equal_shapes(own: Inside, wanted: Inside) -> bool:
    return own.keys() == wanted.keys() and all(
        len(shape) == len(wanted[leaf][1])
        and all(a in (None, b) for a, b in zip(shape, wanted[leaf][1], strict=True))
        for leaf, (_name, shape) in own.items()
    )
