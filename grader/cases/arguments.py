"""Keyword arguments that several classes of the course share."""

from __future__ import annotations

from typing import Any


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
