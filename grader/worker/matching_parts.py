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
Shapes = Mapping[str, Shape]  # of the contract's weights, by their names
Named = Mapping[str, tuple[str, Shape]]  # a name → the parameter's name in the module, and its shape


def names_by_structure(own: Named, wanted: Shapes) -> Named:
    """Return the parameters under the names that they would have in the contract.

    A parameter without a place in the contract keeps its name below the nearest part that has a place.
    """
    return dict(_renamed(_unwrapped(own), _unwrapped(_named(wanted))))


def layers_in_order(own: Named, wanted: Shapes) -> Named:
    """Return the parameters under the contract's names, for a module with the same layers in the same order, nested in
    another way. Returns {} if some layer has no counterpart.
    """
    mine, theirs = (dict(_layers("", names)) for names in (own, _named(wanted)))
    pairs = _in_order(mine, theirs, _equal_shapes)
    return {theirs[b][leaf][0]: parameter for a, b in pairs.items() for leaf, parameter in mine[a].items()}


def _named(shapes: Shapes) -> Named:
    return {name: (name, shape) for name, shape in shapes.items()}


def _unwrapped(names: Named) -> Named:
    """Leave out modules that hold one other module and nothing else."""
    while len({name.partition(".")[0] for name in names}) == 1 and all("." in name for name in names):
        names = {name.partition(".")[2]: parameter for name, parameter in names.items()}
    return names


def _parts(names: Named) -> dict[str, Named]:
    """Return the parts of a module, in the order of their use."""
    parts: dict[str, dict[str, tuple[str, Shape]]] = {}
    for name, parameter in names.items():
        part, _, below = name.partition(".")
        if below:
            parts.setdefault(part, {})[below] = parameter
    return {part: _unwrapped(inner) for part, inner in as_used(parts).items()}


def _layers(path: str, names: Named) -> Iterator[tuple[str, Named]]:
    """Yield the path of each layer in a module, and what it holds itself."""
    if here := {name: parameter for name, parameter in names.items() if "." not in name}:
        yield path, here
    for part, inner in _parts(names).items():
        yield from _layers(f"{path}.{part}", inner)


def _renamed(own: Named, wanted: Named) -> Iterator[tuple[str, tuple[str, Shape]]]:
    """Yield each parameter after the name that it would have in the contract."""
    path = next((name.removesuffix(below) for below, (name, _shape) in wanted.items()), "")
    mine, theirs = _parts(own), _parts(wanted)
    pairs = {part: part for part in mine if part in theirs}
    free = {part: inner for part, inner in mine.items() if part not in pairs}
    left = {part: inner for part, inner in theirs.items() if part not in pairs}
    pairs |= _in_order(free, left, _equal_sizes, _equal_names)
    for part, name in pairs.items():
        yield from _renamed(mine[part], theirs[name])
    for below, parameter in own.items():
        if below.partition(".")[0] not in pairs:
            yield path + below, parameter


def _in_order(
    own: Mapping[str, Named], wanted: Mapping[str, Named], *tests: Callable[[Named, Named], bool]
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


def _equal_sizes(own: Named, wanted: Named) -> bool:
    mine, theirs = (sum(prod(shape) for _name, shape in part.values()) for part in (own, wanted))
    return mine == theirs


def _equal_names(own: Named, wanted: Named) -> bool:
    return own.keys() == wanted.keys()


def _equal_shapes(own: Named, wanted: Named) -> bool:
    return own.keys() == wanted.keys() and all(
        len(shape) == len(wanted[leaf][1])
        and all(a in (None, b) for a, b in zip(shape, wanted[leaf][1], strict=True))
        for leaf, (_name, shape) in own.items()
    )
