"""Fused steps of recurrent layers, which torch calls on a GPU and does not implement on the CPU.

They are the formulas of `nn.GRUCell` and `nn.LSTMCell` and their gradients. A step gets the products of the input
(`into`) and of the hidden state (`back`) with their weights: (B, 3D) each for a GRU, (B, 4D) each for an LSTM.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor


def _gru_cell(
    into: Tensor, back: Tensor, hidden: Tensor, bias: Tensor | None = None, hidden_bias: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return the new hidden state (B, D), and the values that its gradient needs (B, 5D)."""
    r_in, z_in, n_in = _gates(into, bias, 3)
    r_back, z_back, n_back = _gates(back, hidden_bias, 3)
    reset, update = torch.sigmoid(r_in + r_back), torch.sigmoid(z_in + z_back)
    new = torch.tanh(n_in + reset * n_back)
    return new + update * (hidden - new), torch.cat([reset, update, new, n_back, hidden], dim=1)


def _gru_cell_backward(grad: Tensor, kept: Tensor, has_bias: bool) -> tuple[Any, ...]:
    """Return the gradients with respect to `into`, `back`, the hidden state and the two biases.

    kept: the second result of `_gru_cell`.
    """
    reset, update, new, n_back, hidden = kept.chunk(5, dim=1)
    d_new = grad * (1 - update) * (1 - new * new)
    d_update = grad * (hidden - new) * update * (1 - update)
    d_reset = d_new * n_back * reset * (1 - reset)
    d_into = torch.cat([d_reset, d_update, d_new], dim=1)
    d_back = torch.cat([d_reset, d_update, d_new * reset], dim=1)
    biases = (d_into.sum(0), d_back.sum(0)) if has_bias else (None, None)
    return d_into, d_back, grad * update, *biases


def _lstm_cell(
    into: Tensor, back: Tensor, cell: Tensor, bias: Tensor | None = None, hidden_bias: Tensor | None = None
) -> tuple[Tensor, ...]:
    """Return the new hidden state (B, D), the new cell state (B, D), and the values that the gradient needs (B, 4D)."""
    i, f, g, o = (a + b for a, b in zip(_gates(into, bias, 4), _gates(back, hidden_bias, 4), strict=True))
    i, f, g, o = torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
    new = f * cell + i * g
    return o * torch.tanh(new), new, torch.cat([i, f, g, o], dim=1)


def _lstm_cell_backward(
    grad: Tensor | None, grad_cell: Tensor | None, cell: Tensor, new: Tensor, kept: Tensor, has_bias: bool
) -> tuple[Any, ...]:
    """Return the gradients with respect to the products (the same for both), the old cell state and the biases.

    cell, new: the old and the new cell state. kept: the third result of `_lstm_cell`.
    """
    i, f, g, o = kept.chunk(4, dim=1)
    out = torch.zeros_like(new) if grad is None else grad
    squashed = torch.tanh(new)
    d_new = out * o * (1 - squashed * squashed) + (0 if grad_cell is None else grad_cell)
    gates = [
        d_new * g * i * (1 - i),
        d_new * cell * f * (1 - f),
        d_new * i * (1 - g * g),
        out * squashed * o * (1 - o),
    ]
    joined = torch.cat(gates, dim=1)
    return joined, d_new * f, joined.sum(0) if has_bias else None


def _gates(products: Tensor, bias: Tensor | None, count: int) -> Sequence[Tensor]:
    return (products if bias is None else products + bias).chunk(count, dim=1)


STEPS: dict[str, Callable[..., Any]] = {
    "_thnn_fused_gru_cell": _gru_cell,
    "_thnn_fused_gru_cell_backward": _gru_cell_backward,
    "_thnn_fused_lstm_cell": _lstm_cell,
    "_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
}
