"""Replace the steps after each length."""

import torch

__all__ = ["sequence_mask"]


def sequence_mask(X: torch.Tensor, valid_len: torch.Tensor, value: float = 0) -> torch.Tensor:
    """Keep the first `valid_len[n]` steps of row `n`, and set the others to `value`.

    X: (N, T, …); valid_len: (N,). Returns a new tensor (N, T, …) of the same dtype. In a floating-point
    dtype, a value out of its range becomes infinite, as in `X[mask] = value`: -1e6 in float16 is -inf.
    """
    real = torch.arange(X.size(1), device=X.device).lt(valid_len.unsqueeze(-1))  # (N, T)
    real = real.unflatten(-1, (-1,) + (1,) * (X.dim() - 2))  # (N, T, 1, …)
    return torch.where(real, X, torch.as_tensor(value, dtype=X.dtype, device=X.device))
