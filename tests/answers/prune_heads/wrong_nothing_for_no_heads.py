# exercise: prune_heads
# says: returns None if no head is to be removed
# kind: mistake
# breaks: shapes, pruning, values

import copy

import torch
from torch import nn


def prune_heads(mha, heads):
    if not heads:
        return
    new = copy.deepcopy(mha)
    gone = set(heads)
    keep = torch.tensor([h not in gone for h in range(mha.num_heads)])
    if not keep.any():
        raise ValueError("cannot remove every head")
    for layer in (new.W_q, new.W_k, new.W_v):
        rows = keep.repeat_interleave(layer.weight.shape[0] // mha.num_heads).to(layer.weight.device)
        layer.weight = nn.Parameter(layer.weight[rows].detach().clone())
        if layer.bias is not None:
            layer.bias = nn.Parameter(layer.bias[rows].detach().clone())
    new.W_o.weight = nn.Parameter(new.W_o.weight[:, rows].detach().clone())
    new.num_heads = int(keep.sum())
    return new
