# exercise: prune_heads
# says: one head after another, though the numbers move
# kind: mistake
# breaks: values, shapes, pruning

import torch
from torch import nn


def remove_one(mha, h):
    d = mha.W_q.weight.shape[0] // mha.num_heads
    cut = slice(h * d, (h + 1) * d)

    def without(t, dim):
        before, _, after = torch.split(t.detach(), [cut.start, d, t.shape[dim] - cut.stop], dim=dim)
        return nn.Parameter(torch.cat([before, after], dim=dim))

    for layer in [mha.W_q, mha.W_k, mha.W_v]:
        layer.weight = without(layer.weight, 0)
        if layer.bias is not None:
            layer.bias = without(layer.bias, 0)
    mha.W_o.weight = without(mha.W_o.weight, 1)
    mha.num_heads -= 1


def prune_heads(mha, heads):
    wanted = sorted(set(heads))
    if len(wanted) >= mha.num_heads:
        raise ValueError("all heads")
    for h in wanted:
        remove_one(mha, h)
    return mha
