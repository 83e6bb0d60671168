"""Read the steps of a case: which inputs they make, and which of these a later step uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from grader.bundle.safetensors import Array

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


# Steps that a result does not depend on.
_ASIDE = frozenset(("gradients", "after", "weights", "stages", "see", "see_value", "none"))


def in_short(steps: Sequence[Step], see: str) -> list[Any]:
    """Return the steps that lead to the observation `see`, and the step that makes it. No input requires a gradient."""
    last = next(i for i, step in enumerate(steps) if step["do"] == "see" and step["name"] == see)
    kept = [step for step in steps[:last] if step["do"] not in _ASIDE] + [steps[last]]
    unused = unused_inputs(kept)
    kept = [step for step in kept if step.get("name") not in unused]
    return [{**step, "grad": False} if "grad" in step else step for step in kept]


def in_dtype(tensors: Mapping[str, Array], steps: Sequence[Step], dtype: str) -> dict[str, Array]:
    """Return the tensors of the steps `input` and `load`; the floating ones are rounded to the dtype."""
    names = {name for step in steps if step["do"] in ("input", "load") for name in _tensors(step)}
    kept = {name: array for name, array in tensors.items() if name in names}
    return {
        name: round_to(array, dtype) if array.dtype.kind == "f" else array for name, array in kept.items()
    }


def round_to(array: Array, dtype: str) -> Array:
    """Return an array rounded to a torch dtype. Values of bfloat16, which numpy lacks, are returned as float32."""
    if dtype != "bfloat16":
        return array.astype(dtype)
    bits = np.ascontiguousarray(array, dtype="<f4").view("<u4")
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)  # to nearest, ties to even
    return (rounded & 0xFFFF0000).astype("<u4").view("<f4").reshape(array.shape)
