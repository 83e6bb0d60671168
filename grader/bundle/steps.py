"""Read the steps of a case: which inputs they make, and which of these a later step uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Step = Mapping[str, Any]

_INPUTS = frozenset(("input", "tokens", "batches", "constant", "value"))


def unused_inputs(steps: Sequence[Step]) -> list[str]:
    """Return the names of inputs that no step uses.

    A step "after" only observes an input again. It names the input without a reference, so it does not count.
    """
    used = {name for step in steps for name in _references(step)}
    return [step["name"] for step in steps if step["do"] in _INPUTS and step["name"] not in used]


def unused_tensors(steps: Sequence[Step], tensors: Mapping[str, Any]) -> list[str]:
    """Return the names of stored tensors that no step takes: inputs, batches, weights and upstream gradients."""
    return sorted(tensors.keys() - {name for step in steps for name in _tensors(step)})


def _references(value: Any) -> Iterator[str]:
    """Yield the names in a step that refer to something made before."""
    if isinstance(value, Mapping):
        if isinstance(value.get("ref"), str):
            yield value["ref"]
        for item in value.values():
            yield from _references(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _references(item)


def _tensors(step: Step) -> Iterator[str]:
    match step["do"]:
        case "input" | "tokens":
            yield step["name"]
        case "batches":
            yield from step["of"]
        case "gradients":
            yield from step["upstream"]
        case "descend":
            yield step["upstream"]
        case "load":
            # A recipe that is no string describes a `Filled`, a tensor made by a rule, which is not stored.
            yield from (recipe for recipe in step["weights"].values() if isinstance(recipe, str))
