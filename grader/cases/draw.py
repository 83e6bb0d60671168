"""Random numbers for cases, from numpy's PCG64: the same on every processor and for every torch."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from grader.bundle.safetensors import Array

PUBLIC_SEED = "public"


class Draw:
    """A stream of numbers that depends only on the seed and on the words given to `Draw`.

    Every exercise draws from a stream of its own, so that a new case changes the numbers of no other exercise.
    """

    def __init__(self, seed: str, *words: str):
        # Cases that would give an answer away are drawn only if this is true.
        self.hidden = seed != PUBLIC_SEED
        digest = hashlib.sha256("\0".join((seed, *words)).encode()).digest()
        self._rng = np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))

    def normal(self, *shape: int, std: float = 1.0) -> Array:
        """Return normal numbers; unit variance keeps scores near 1, so that no softmax is one-hot."""
        return self._rng.standard_normal(shape) * std

    def linear(self, out_features: int, in_features: int) -> Array:
        """Return a weight matrix (out, in) of variance 1/in: inputs of unit variance give outputs of unit variance."""
        return self.normal(out_features, in_features, std=in_features**-0.5)

    def integers(self, low: int, high: int, *shape: int) -> Array:
        """Return integers from low to high, both included."""
        return self._rng.integers(low, high + 1, shape)

    def sizes(self, count: int, low: int = 2, high: int = 7, avoid: Sequence[int] = ()) -> list[int]:
        """Return distinct sizes, none of them in `avoid`, so that no two axes have the same length.

        Raises ValueError if there are too few.
        """
        pool = [n for n in range(low, high + 1) if n not in avoid]
        if len(pool) < count:
            raise ValueError(f"no {count} distinct sizes from {low} to {high} without {sorted(avoid)}")
        return [int(n) for n in self._rng.permutation(pool)[:count]]

    def choice(self, options: Sequence[int]) -> int:
        """Return one of the options."""
        return int(self._rng.choice(np.asarray(options)))

    def lens(self, count: int | Sequence[int], longest: int) -> Array:
        """Return lengths from 1 to `longest`, in the shape (count,), or `count` if it is a shape.

        If there are at least two lengths, 1 and `longest` occur.
        """
        shape = (count,) if isinstance(count, int) else tuple(count)
        total = int(np.prod(shape))
        rest = [int(n) for n in self._rng.integers(1, longest + 1, max(0, total - 2))]
        mixed = self._rng.permutation(np.array([1, longest, *rest][:total]))
        return mixed.reshape(shape).astype(np.int64)
