"""Random numbers for cases, from numpy's PCG64: the same on every processor and for every torch."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from grader.bundle.safetensors import Array


class Draw:
    """A stream of numbers that depends only on the seed and on the words given to `Draw`.

    Every exercise draws from a stream of its own, so that a new case in one changes no other.
    """

    def __init__(self, seed: str, *words: str):
        self.hidden = seed != "public"  # cases that would give an answer away belong to hidden seeds alone
        digest = hashlib.sha256("\0".join((seed, *words)).encode()).digest()
        self._rng = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))

    def normal(self, *shape: int, std: float = 1.0) -> Array:
        """Unit variance unless told otherwise: scores of order one, no softmax that is one-hot."""
        return self._rng.standard_normal(shape) * std

    def linear(self, out_features: int, in_features: int) -> Array:
        """A weight matrix (out, in) of variance 1/in: what goes in with unit variance comes out so."""
        return self.normal(out_features, in_features, std=in_features**-0.5)

    def integers(self, low: int, high: int, *shape: int) -> Array:
        """Integers from low to high, both included."""
        return self._rng.integers(low, high + 1, shape)

    def sizes(self, count: int, low: int = 2, high: int = 7, avoid: Sequence[int] = ()) -> list[int]:
        """Distinct sizes, so that no axis can be taken for another, nor for those in `avoid`."""
        pool = [n for n in range(low, high + 1) if n not in avoid]
        if len(pool) < count:
            raise ValueError(f"no {count} distinct sizes from {low} to {high} without {sorted(avoid)}")
        return [int(n) for n in self._rng.permutation(pool)[:count]]

    def choice(self, options: Sequence[int]) -> int:
        return int(self._rng.choice(np.asarray(options)))

    def lens(self, count: int | Sequence[int], longest: int) -> Array:
        """Lengths of shape (count,) or a tuple of sizes: 1 and `longest` occur, the rest lies between.

        Neighbouring rows differ wherever that is possible.
        """
        shape = (count,) if isinstance(count, int) else tuple(count)
        total = int(np.prod(shape))
        rest = [int(n) for n in self._rng.integers(1, longest + 1, max(0, total - 2))]
        mixed = self._rng.permutation(np.array([1, longest, *rest][:total]))
        return mixed.reshape(shape).astype(np.int64)
