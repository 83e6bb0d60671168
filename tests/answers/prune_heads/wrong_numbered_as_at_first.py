# exercise: prune_heads
# says: remembers earlier removals and counts heads as at the very first
# kind: mistake
# breaks: values, pruning

import torch
from torch import nn


def prune_heads(mha, heads):
    """As in libraries that keep a record: heads keep the numbers they had at first."""
    gone = set(getattr(mha, "pruned_heads", set()))
    total = mha.num_heads + len(gone)
    new = set(heads) - gone
    stay = [h for h in range(total) if h not in gone | new]
    if not stay:
        raise ValueError("nothing left")
    d = mha.W_q.weight.shape[0] // mha.num_heads
    here = [h for h in range(total) if h not in gone]
    index = torch.cat([torch.arange(d) + here.index(h) * d for h in stay]).to(mha.W_q.weight.device)
    for layer in (mha.W_q, mha.W_k, mha.W_v):
        layer.weight = nn.Parameter(layer.weight.data[index])
        if layer.bias is not None:
            layer.bias = nn.Parameter(layer.bias.data[index])
    mha.W_o.weight = nn.Parameter(mha.W_o.weight.data[:, index])
    mha.num_heads = len(stay)
    mha.pruned_heads = gone | new
    return mha
