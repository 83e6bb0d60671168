# exercise: prune_heads
# says: a head that is named twice counts twice
# kind: mistake
# breaks: pruning, values, shapes

import torch
from torch import nn


def prune_heads(mha, heads):
    left = torch.ones(mha.num_heads, dtype=torch.bool)
    left[list(heads)] = False
    n = left.sum().item()
    if n == 0:
        raise ValueError("at least one head has to stay")
    if n == mha.num_heads:
        return mha
    H = mha.num_heads
    with torch.no_grad():
        for lin in (mha.W_q, mha.W_k, mha.W_v):
            lin.weight = nn.Parameter(lin.weight.unflatten(0, (H, -1))[left].flatten(0, 1))
            if lin.bias is not None:
                lin.bias = nn.Parameter(lin.bias.unflatten(0, (H, -1))[left].flatten())
            lin.out_features = lin.weight.shape[0]
        W = mha.W_o.weight.unflatten(1, (H, -1))[:, left].flatten(1)
        mha.W_o.weight = nn.Parameter(W)
        mha.W_o.in_features = W.shape[1]
    mha.num_heads = H - len(heads)
    return mha
