"""Random weights for cases, with the names that the exercises ask for. Shapes are those of `nn.Linear`: (out, in)."""

from __future__ import annotations

from grader.bundle.safetensors import Array
from grader.cases.draw import Draw

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
    return (
        multi_head(draw, D, prefix=f"{prefix}attention1.")
        | norm(draw, D, f"{prefix}addnorm1.")
        | multi_head(draw, D, prefix=f"{prefix}attention2.")
        | norm(draw, D, f"{prefix}addnorm2.")
        | ffn(draw, D, hidden, D, f"{prefix}ffn.")
        | norm(draw, D, f"{prefix}addnorm3.")
    )


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
