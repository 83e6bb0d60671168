"""The attention weights of every head of every layer, in one layout."""

from collections.abc import Sequence
from typing import Any

import torch

from grader.given import TransformerDecoder, TransformerEncoder

__all__ = ["attention_maps"]

Kept = torch.Tensor | Sequence[torch.Tensor]  # the weights of one layer


def attention_maps(
    model: TransformerEncoder | TransformerDecoder, *inputs: Any
) -> dict[str, list[torch.Tensor]]:
    """Call `model(*inputs)` and return its weights: one tensor (B, H, T, S) per layer.

    Returns {"encoder": …} for an encoder and {"decoder": …, "cross": …} for a decoder, which has a method
    `init_state`. In `model.attention_weights`, the weights of a layer may be a tensor (B·H, T, S) or (B, H, T, S),
    or a list with one (B, T, S) per head.
    """
    model(*inputs)
    batch_size = len(inputs[0])
    kept = model.attention_weights
    if not hasattr(model, "init_state"):
        return {"encoder": _by_head(kept, batch_size)}
    return {"decoder": _by_head(kept[0], batch_size), "cross": _by_head(kept[1], batch_size)}


def _by_head(layers: Sequence[Kept], batch_size: int) -> list[torch.Tensor]:
    """Bring L layers in any of the three layouts to L tensors (B, H, T, S)."""
    tensors = [w if isinstance(w, torch.Tensor) else torch.stack(tuple(w), dim=1) for w in layers]
    return [w.unflatten(0, (batch_size, -1)) if w.dim() == 3 else w for w in tensors]
