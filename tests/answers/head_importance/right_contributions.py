# exercise: head_importance
# says: what each head adds to the output, computed once; the gradient by the chain rule
# kind: same
# breaks:

import torch
from torch.nn import functional as F


def contributions(mha, queries, keys, values, valid_lens):
    """What each head adds to the output (B, H, T, D), and the weights (B, H, T, S)."""
    H = mha.num_heads
    q, k, v = (layer(X).unflatten(-1, (H, -1)).transpose(1, 2)
               for layer, X in ((mha.W_q, queries), (mha.W_k, keys), (mha.W_v, values)))
    scores = q @ k.mT / q.shape[-1] ** 0.5
    if valid_lens is not None:
        seen = torch.arange(k.shape[2], device=k.device) < valid_lens.reshape(len(k), 1, -1, 1)
        scores = torch.where(seen, scores, -torch.inf)
    weights = F.softmax(scores, dim=-1)
    W = mha.W_o.weight.unflatten(1, (H, -1))  # (D, H, d)
    return torch.einsum("bhts,bhsd,ehd->bhte", weights, v, W), weights


def head_importance(mha, batches, loss_fn, method):
    sums = n = 0
    for queries, keys, values, valid_lens, target in batches:
        parts, weights = contributions(mha, queries, keys, values, valid_lens)
        bias = 0 if mha.W_o.bias is None else mha.W_o.bias
        full = parts.sum(1) + bias
        if method == "ablation":
            loss = loss_fn(full, target)
            each = [(loss_fn(full - parts[:, h], target) - loss).sum() for h in range(mha.num_heads)]
            sums, n = sums + torch.stack(each), n + len(target)
        elif method == "gradient":
            # d loss / d gate_h = <d loss / d output, what head h adds>
            leaf = full.detach().requires_grad_()
            upstream, = torch.autograd.grad(loss_fn(leaf, target).sum(), leaf)
            sums, n = sums + torch.einsum("bte,bhte->bh", upstream, parts).abs().sum(0), n + len(target)
        else:
            best = weights.max(-1).values  # (B, H, T)
            sums, n = sums + best.sum((0, 2)), n + best[:, 0].numel()
    return (sums / n).detach()
