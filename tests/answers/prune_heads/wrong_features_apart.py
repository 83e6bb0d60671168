# exercise: prune_heads
# says: assumes that the features of a head are H columns apart
# kind: mistake
# breaks: values

import torch
from torch import nn


def prune_heads(mha, heads):
    H = mha.num_heads
    stay = [h for h in range(H) if h not in heads]
    if not stay:
        raise ValueError("no head would be left")
    d = mha.W_q.out_features // H
    index = torch.cat([torch.arange(h, H * d, H) for h in stay]).to(mha.W_q.weight.device)
    for name in ("W_q", "W_k", "W_v", "W_o"):
        old = getattr(mha, name)
        dim = 1 if name == "W_o" else 0
        W = old.weight.detach().index_select(dim, index)
        new = nn.Linear(W.shape[1], W.shape[0], bias=old.bias is not None).to(W.device, W.dtype)
        with torch.no_grad():
            new.weight.copy_(W)
            if old.bias is not None:
                new.bias.copy_(old.bias if name == "W_o" else old.bias[index])
        new.train(old.training)
        setattr(mha, name, new)
    mha.num_heads = len(stay)
    return mha
