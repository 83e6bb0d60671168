"""Steps with which a case measures: what a module costs, whether it learns, what an experiment found.

They are methods of a case; grader/worker/measures.py carries them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from grader.bundle.safetensors import Array
from grader.cases.ref import Ref


class Measures:
    """Mixed into `Case`."""

    axes: dict[str, tuple[str, ...]]

    def parameter_count(self, module: Ref, name: str) -> str:
        """Observe how many numbers a module's parameters hold. Returns the observation's name."""
        self._step("parameter_count", name=name, of=module.to_json())
        return name

    def flops(self, module: Ref, *args: Any, name: str) -> str:
        """Observe how many floating-point operations one call takes, as torch.utils.flop_counter counts them:
        two for each multiplication in a matrix product, and nothing else. Returns the observation's name."""
        self._step("flops", name=name, of=module.to_json(), args=_refs(args))
        return name

    def milliseconds(self, modules: Sequence[Ref], names: Sequence[str], *args: Any) -> None:
        """Observe how long calls take, in turn, as `name` (the fastest) and `name at most` (nine in ten).

        For the report alone: a time is never judged.
        """
        self._step("milliseconds", of=_refs(modules), names=list(names), args=_refs(args))

    def descend(self, module: Ref, of: Ref, upstream: Array, rate: float) -> None:
        """One step of gradient descent on Σ (y · g), on every parameter that the module has by now.

        What the module gives afterwards shows its gradients whatever its parameters are called.
        """
        name = self._name("upstream")
        self._hold(name, upstream)
        self._step("descend", module=module.to_json(), of=of.to_json(), upstream=name, rate=rate)

    def removals(self, rows: Ref, heads: int, name: str = "removals") -> str:
        """Observe the rows of a removal experiment as a tensor (rows, 3 + heads): seed, order, accuracy, and
        the heads removed, filled up with -1. Returns the observation's name."""
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
