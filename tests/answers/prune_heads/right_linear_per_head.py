# exercise: prune_heads
# says: a new module with layers for each head that stays
# kind: same
# breaks:

import copy

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.q, self.k, self.v = layers

    def forward(self, queries, keys, values, valid_lens, dropout):
        q, k, v = self.q(queries), self.k(keys), self.v(values)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if valid_lens is not None:
            lens = valid_lens[:, None, None] if valid_lens.dim() == 1 else valid_lens[:, :, None]
            scores[torch.arange(k.shape[1], device=k.device).expand_as(scores) >= lens] = -torch.inf
        return dropout(scores.softmax(-1)) @ v


class HeadsApart(nn.Module):
    def __init__(self, heads, W_o, dropout):
        super().__init__()
        self.heads, self.W_o, self.dropout = nn.ModuleList(heads), W_o, nn.Dropout(dropout)

    @property
    def num_heads(self):
        return len(self.heads)

    def forward(self, queries, keys, values, valid_lens):
        Y = [head(queries, keys, values, valid_lens, self.dropout) for head in self.heads]
        return self.W_o(torch.cat(Y, dim=-1))


def linear(weight, bias):
    new = nn.utils.skip_init(nn.Linear, weight.shape[1], weight.shape[0], bias=bias is not None, device=weight.device, dtype=weight.dtype)
    with torch.no_grad():
        new.weight.copy_(weight)
        if bias is not None:
            new.bias.copy_(bias)
    return new


def prune_heads(mha, heads):
    H = mha.num_heads
    stay = [h for h in range(H) if h not in heads]
    if stay == []:
        raise ValueError("no heads left")
    columns = mha.W_o.weight.chunk(H, dim=1)
    W_o = linear(torch.cat([columns[h] for h in stay], 1), mha.W_o.bias)
    if isinstance(mha, HeadsApart):
        small = HeadsApart([copy.deepcopy(mha.heads[h]) for h in stay], W_o, mha.dropout.p)
    else:
        parts = []
        for layer in (mha.W_q, mha.W_k, mha.W_v):
            biases = [None] * H if layer.bias is None else layer.bias.chunk(H)
            parts.append([linear(w, b) for w, b in zip(layer.weight.chunk(H), biases)])
        small = HeadsApart([Head([part[h] for part in parts]) for h in stay], W_o, mha.attention.dropout.p)
    return small.train(mha.training)
