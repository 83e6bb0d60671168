"""The steps of a case that measure: what a module costs, whether it learns, what an experiment found."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.bundle.safetensors import Array
from grader.bundle.steps import round_to
from grader.cases.ref import Json, Ref, plain


class Measures:
    """The methods of `Case` that measure, and those that store a step; grader/worker/measures.py carries them out."""

    id: str
    dtype: str
    steps: list[Json]
    tensors: dict[str, Array]
    axes: dict[str, tuple[str, ...]]
    _fresh: int  # how many names `_name` has made

    def parameter_count(self, module: Ref, name: str) -> str:
        """Observe the number of values in all parameters of a module. Returns the name of the observation."""
        self._step("parameter_count", name=name, of=module.to_json())
        return name

    def flops(self, module: Ref, *args: Any, name: str) -> str:
        """Observe the number of floating-point operations of one call, as torch.utils.flop_counter counts them: two
        for each multiplication in a matrix product, a convolution or fused attention, and nothing else. Returns the
        name of the observation.
        """
        self._step("flops", name=name, of=module.to_json(), args=plain(args))
        return name

    def descend(self, module: Ref, of: Ref, upstream: Array, rate: float) -> None:
        """Minimise Σ (`of` · `upstream`) by one step of gradient descent on all parameters that the module trains now.

        A later output of the module then depends on the gradients, whatever its parameters are called.
        """
        name = self._name("upstream")
        self._hold(name, upstream)
        self._step("descend", module=module.to_json(), of=of.to_json(), upstream=name, rate=rate)

    def removals(self, rows: Ref, heads: int) -> str:
        """Observe the rows of a removal experiment as a tensor (rows, 3 + heads): seed, order, accuracy, and the
        removed heads, padded with -1. Returns the name of the observation.
        """
        name = "removals"
        self._step("removals", name=name, of=rows.to_json(), heads=heads)
        self.axes[name] = ("row", "column")
        return name

    def _step(self, do: str, **fields: Json) -> None:
        self.steps.append({"do": do, **fields})

    def _hold(self, name: str, values: Array) -> None:
        array = np.asarray(values)
        if array.dtype.kind == "f":
            array = round_to(array, self.dtype)
        if name in self.tensors and not np.array_equal(self.tensors[name], array):
            raise ValueError(f"case {self.id}: {name!r} is already another tensor")
        self.tensors[name] = array

    def _name(self, stem: str) -> str:
        self._fresh += 1
        return f"{stem}{self._fresh}"
