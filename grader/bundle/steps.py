"""Shorten and convert the steps of a case, and find inputs that no step uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from grader.bundle.safetensors import Array
from grader.worker.steps import (
    After,
    Constant,
    Given,
    Gradients,
    Input,
    Load,
    See,
    SeeNone,
    SeeValue,
    Stages,
    Step,
    Weights,
    refs_in,
    tensors_of,
)

# Steps that a result does not depend on.
_ASIDE = (Gradients, After, Weights, Stages, See, SeeValue, SeeNone)


def unused_inputs(steps: Sequence[Step]) -> list[str]:
    """Return the names of inputs that no step uses.

    A step `After` only observes an input again. It names the input without a reference, so it does not count.
    """
    used = {name for step in steps for name in refs_in(step)}
    return [step.name for step in steps if isinstance(step, Given) and step.name not in used]


def unused_tensors(steps: Sequence[Step], tensors: Mapping[str, Any]) -> list[str]:
    """Return the names of stored tensors that no step takes: inputs, batches, weights and upstream gradients."""
    return sorted(tensors.keys() - {name for step in steps for name in tensors_of(step)})


def in_short(steps: Sequence[Step], see: str) -> list[Step]:
    """Return the steps that lead to the observation `see`, and the step that makes it. No input requires a gradient."""
    last = next(i for i, step in enumerate(steps) if isinstance(step, See) and step.name == see)
    kept = [step for step in steps[:last] if not isinstance(step, _ASIDE)] + [steps[last]]
    unused = unused_inputs(kept)
    kept = [step for step in kept if not (isinstance(step, Given) and step.name in unused)]
    differentiable = (Input, Constant)
    return [msgspec.structs.replace(s, grad=False) if isinstance(s, differentiable) else s for s in kept]


def in_dtype(tensors: Mapping[str, Array], steps: Sequence[Step], dtype: str) -> dict[str, Array]:
    """Return the tensors of the steps `Input` and `Load`; the floating ones are rounded to the dtype."""
    names = {name for step in steps if isinstance(step, (Input, Load)) for name in tensors_of(step)}
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
