"""What cases are made of: random numbers from numpy's PCG64 (the same on every processor and for every torch), random weights with the names that exercises ask for, and keyword arguments that several classes share. Shapes of weights are those of `nn.Linear`: (out, in)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from grader.bundle.safetensors import Array
from grader.worker.steps import Filled

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


Weights = dict[str, Array]


def linear(draw: Draw, name: str, out: int, into: int, bias: bool = True) -> Weights:
    """Return `name.weight` (out, in) of variance 1/in, and `name.bias` (out,)."""
    weights = {f"{name}.weight": draw.linear(out, into)}
    return weights | {f"{name}.bias": draw.normal(out, std=0.5)} if bias else weights


def multi_head(
    draw: Draw,
    D: int,
    *,
    query_size: int = 0,
    key_size: int = 0,
    value_size: int = 0,
    bias: bool = False,
    prefix: str = "",
) -> Weights:
    """Return the four projections of a multi-head attention; sizes that are not given are D."""
    sizes = {"W_q": query_size or D, "W_k": key_size or D, "W_v": value_size or D, "W_o": D}
    out: Weights = {}
    for name, size in sizes.items():
        out |= linear(draw, prefix + name, D, size, bias)
    return out


def norm(draw: Draw, D: int, prefix: str = "") -> Weights:
    """Return random weight and bias of a LayerNorm named `ln`. A new one has ones and zeros."""
    return {f"{prefix}ln.weight": 1 + draw.normal(D, std=0.3), f"{prefix}ln.bias": draw.normal(D, std=0.5)}


def ffn(draw: Draw, into: int, hidden: int, out: int, prefix: str = "") -> Weights:
    """Return `dense1` and `dense2` of a position-wise feed-forward network."""
    return linear(draw, f"{prefix}dense1", hidden, into) | linear(draw, f"{prefix}dense2", out, hidden)


def encoder_block(draw: Draw, D: int, hidden: int, *, bias: bool = False, prefix: str = "") -> Weights:
    """Return the weights of attention, addnorm1, ffn and addnorm2."""
    return (
        multi_head(draw, D, bias=bias, prefix=f"{prefix}attention.")
        | norm(draw, D, f"{prefix}addnorm1.")
        | ffn(draw, D, hidden, D, f"{prefix}ffn.")
        | norm(draw, D, f"{prefix}addnorm2.")
    )


def decoder_block(draw: Draw, D: int, hidden: int, *, prefix: str = "") -> Weights:
    """Return the weights of attention1, addnorm1, attention2, addnorm2, ffn and addnorm3."""
    out: Weights = {}
    for i in (1, 2):
        out |= multi_head(draw, D, prefix=f"{prefix}attention{i}.") | norm(draw, D, f"{prefix}addnorm{i}.")
    return out | ffn(draw, D, hidden, D, f"{prefix}ffn.") | norm(draw, D, f"{prefix}addnorm3.")


def transformer_decoder(draw: Draw, V: int, D: int, hidden: int, layers: int) -> Weights:
    """Return the weights of embedding, blks.block{i} and dense."""
    out: Weights = {"embedding.weight": draw.normal(V, D, std=D**-0.5)}
    for i in range(layers):
        out |= decoder_block(draw, D, hidden, prefix=f"blks.block{i}.")
    return out | linear(draw, "dense", V, D)


def gru(draw: Draw, name: str, into: int, D: int, layers: int) -> Weights:
    """Return the weights of an `nn.GRU`: per layer `weight_ih` (3D, in), `weight_hh` (3D, D) and two biases (3D,)."""
    out: Weights = {}
    for i in range(layers):
        size = into if i == 0 else D
        out |= {
            f"{name}.weight_ih_l{i}": draw.linear(3 * D, size),
            f"{name}.weight_hh_l{i}": draw.linear(3 * D, D),
            f"{name}.bias_ih_l{i}": draw.normal(3 * D, std=0.5),
            f"{name}.bias_hh_l{i}": draw.normal(3 * D, std=0.5),
        }
    return out


def block_arguments(
    size: int, heads: int, hidden: int, dropout: float = 0.0, norm_shape: Any = None
) -> dict[str, Any]:
    """Return the keyword arguments of a Transformer block, which a whole encoder or decoder takes too.

    size: the width of its inputs and outputs. hidden: the width inside the FFN.
    """
    return {
        "key_size": size,
        "query_size": size,
        "value_size": size,
        "num_hiddens": size,
        "norm_shape": norm_shape or [size],
        "ffn_num_input": size,
        "ffn_num_hiddens": hidden,
        "num_heads": heads,
        "dropout": dropout,
    }


def zeros(*shape: int) -> Filled:
    """Return weights of this shape that are all zero."""
    return Filled(shape)


def filled(value: float, *shape: int, rows: int | None = None, std: float = 0.0) -> Filled:
    """Return weights of this shape that are all `value`, or zero from row `rows` on. std: of random numbers that torch
    adds.
    """
    return Filled(shape, value, rows=rows, std=std)


def eye(size: int) -> Filled:
    """Return the unit matrix (size, size), as weights."""
    return Filled((size, size), 1.0, diagonal=True)
