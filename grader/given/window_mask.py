"""A causal mask by positions, with a window and sinks."""

import torch

__all__ = ["window_mask"]


def window_mask(
    q_positions: torch.Tensor, k_positions: torch.Tensor, window: int | None = None, sinks: int = 0
) -> torch.Tensor:
    """Return which keys (S,) each query (T,) may attend to: (T, S), bool. A key at position -1 is an empty place."""
    back = q_positions[:, None] - k_positions  # (T, S)
    near = torch.full_like(back, True, dtype=torch.bool) if window is None else back.lt(window)
    return back.ge(0).logical_and(near.logical_or(k_positions.lt(sinks))).logical_and(k_positions.ge(0))
