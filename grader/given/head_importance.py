"""The importance of every head, measured in three ways (Michel et al. 2019; Voita et al. 2019)."""

from collections.abc import Callable, Sequence

import torch

from grader.given import MultiHeadAttention, gated_attention

__all__ = ["head_importance"]

Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor | None, torch.Tensor]
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def head_importance(
    mha: MultiHeadAttention, batches: Sequence[Batch], loss_fn: Loss, method: str
) -> torch.Tensor:
    """Measure the importance of every head, (H,), without dropout. The mode of `mha` stays the same.

    batches: tuples (queries, keys, values, valid_lens, target); loss_fn(output, target) returns one loss per
    sample, (B,). method: "ablation", the mean over samples of L(ξ_h = 0) − L; "gradient", the mean over
    samples of |∂L/∂ξ_h|; or "confidence", the mean over queries of the largest weight. ξ_h is the gate of
    head h. Raises ValueError for another method.
    """
    if method not in _METHODS:
        raise ValueError(f"method is {method!r}; it should be one of {', '.join(_METHODS)}")
    was_training = mha.training
    mha.eval()
    try:
        measured = [_METHODS[method](mha, loss_fn, batch) for batch in batches]  # (H, B) or (H, B·T) each
    finally:
        mha.train(was_training)
    return torch.cat(measured, dim=1).mean(dim=1)


def _ablation(mha: MultiHeadAttention, loss_fn: Loss, batch: Batch) -> torch.Tensor:
    """Return (H, B): how much the loss rises when the gate of one head is zero."""
    *given, target = batch
    gates = 1 - torch.eye(mha.num_heads, dtype=batch[0].dtype, device=batch[0].device)  # (H, H)
    with torch.no_grad():
        whole = loss_fn(mha(*given), target)  # (B,)
        silent = [loss_fn(gated_attention(mha, one_closed, *given), target) for one_closed in gates]
    return torch.stack(silent) - whole


def _gradient(mha: MultiHeadAttention, loss_fn: Loss, batch: Batch) -> torch.Tensor:
    """Return (H, B): |∂L/∂ξ_h| for each sample.

    Each sample has separate gates, so one backward pass gives the gradients of all samples.
    """
    *given, target = batch
    with torch.enable_grad():
        gates = batch[0].new_ones(len(batch[0]), mha.num_heads, requires_grad=True)  # (B, H)
        losses = loss_fn(gated_attention(mha, gates, *given), target)  # (B,)
        (slope,) = torch.autograd.grad(losses.sum(), gates)
    return slope.abs().T


def _confidence(mha: MultiHeadAttention, loss_fn: Loss, batch: Batch) -> torch.Tensor:
    """Return (H, B·T): the largest weight of every query."""
    with torch.no_grad():
        mha(*batch[:4])
    largest: torch.Tensor = mha.attention.attention_weights.amax(dim=-1)  # (B·H, T)
    return largest.unflatten(0, (-1, mha.num_heads)).transpose(0, 1).flatten(1)


_METHODS = {"ablation": _ablation, "gradient": _gradient, "confidence": _confidence}
