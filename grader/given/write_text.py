"""Continue a text with tokens drawn from a language model."""

from collections.abc import Callable
from typing import Any

import torch

from grader.given import KVCache, sample_token, top_k_top_p_filtering

__all__ = ["write_text"]


@torch.no_grad()
def write_text(
    model: Any,
    prompt: torch.Tensor,
    max_new_tokens: int,
    uniform: Callable[[], float],
    temperature: float = 1.0,
    top_k: int = 0,
    top_p: float = 1.0,
) -> torch.Tensor:
    """Return prompts (B, P) with new tokens: (B, P + max_new_tokens). Temperature 0 takes the most likely token."""
    caches = [KVCache(prompt.size(1) + max_new_tokens) for _ in range(model.num_layers)]
    pieces = [prompt]
    for _ in range(max_new_tokens):
        last = model(pieces[-1], caches)[:, -1]  # (B, V)
        probs = top_k_top_p_filtering(last.div(temperature or 1), top_k, top_p).softmax(-1)
        token = (
            last.argmax(-1)
            if temperature == 0
            else torch.cat([sample_token(row[None], torch.tensor([uniform()])) for row in probs])
        )
        pieces.append(token.unsqueeze(1))
    return torch.cat(pieces, dim=1)
