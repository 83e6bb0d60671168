"""The steps of a case that measure: what a module costs, whether it learns, what an experiment found.

These are methods of `Case`; grader/worker/measures.py carries the steps out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.bundle.safetensors import Array
from grader.cases.ref import Ref


class Measures:
    """The methods of `Case` that measure."""

    axes: dict[str, tuple[str, ...]]

    def parameter_count(self, module: Ref, name: str) -> str:
        """Observe the number of values in all parameters of a module. Returns the name of the observation."""
        self._step("parameter_count", name=name, of=module.to_json())
        return name

    def flops(self, module: Ref, *args: Any, name: str) -> str:
        """Observe the number of floating-point operations of one call, as torch.utils.flop_counter counts them: two
        for each multiplication in a matrix product, a convolution or fused attention, and nothing else. Returns the
        name of the observation.
        """
        self._step("flops", name=name, of=module.to_json(), args=_refs(args))
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

    def _step(self, do: str, **fields: Any) -> None:
        raise NotImplementedError

    def _hold(self, name: str, values: Array) -> None:
        raise NotImplementedError

    def _name(self, stem: str) -> str:
        raise NotImplementedError


def _refs(values: Sequence[Any]) -> list[Any]:
    return [None if value is None else value.to_json() for value in values]
