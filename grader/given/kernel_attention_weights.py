"""One weight per pair of query and key, from a Gaussian kernel."""

import torch

__all__ = ["kernel_attention_weights"]


def kernel_attention_weights(
    queries: torch.Tensor, keys: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    """Return the attention weights of a Gaussian kernel of width `1 / w` (Nadaraya 1964, Watson 1964).

    queries: (T,); keys: (S,). Returns (T, S); every row sums to one.
    """
    scaled = torch.sub(queries.unsqueeze(-1), keys).mul(w)
    return torch.softmax(scaled.square().mul(-0.5), dim=-1)
