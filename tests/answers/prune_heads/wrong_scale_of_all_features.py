# exercise: prune_heads
# says: scores divided by the square root of features over heads as they were
# kind: mistake
# breaks: values

import math

import torch
from torch import nn


class SmallAttention(nn.Module):
    """Fewer heads than features would suggest: the head size is kept apart."""

    def __init__(self, num_heads, W_q, W_k, W_v, W_o, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = W_q, W_k, W_v, W_o
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        B, T, S = len(queries), queries.shape[1], keys.shape[1]
        q, k, v = (layer(X).view(B, X.shape[1], self.num_heads, -1).transpose(1, 2)
                   for layer, X in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values)))
        scores = q @ k.transpose(2, 3) / math.sqrt(self.W_o.out_features / self.num_heads)
        if valid_lens is not None:
            hidden = torch.arange(S, device=q.device)[None, None, None] >= valid_lens.reshape(B, 1, -1, 1)
            scores = scores.masked_fill(hidden, -1e6)
        self.attention_weights = scores.softmax(dim=-1)
        out = self.dropout(self.attention_weights) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, -1))


def part(layer, features, dim):
    weight = layer.weight.detach().index_select(dim, features)
    new = nn.Linear(weight.shape[1], weight.shape[0], bias=layer.bias is not None, device=weight.device, dtype=weight.dtype)
    new.weight.data = weight
    if layer.bias is not None:
        new.bias.data = layer.bias.detach()[features] if dim == 0 else layer.bias.detach().clone()
    return new


def prune_heads(mha, heads):
    d = mha.W_q.weight.shape[0] // mha.num_heads
    stay = [h for h in range(mha.num_heads) if h not in set(heads)]
    if not stay:
        raise ValueError("every head is to be removed")
    features = torch.tensor([h * d + i for h in stay for i in range(d)], device=mha.W_q.weight.device)
    layers = [part(layer, features, 0) for layer in (mha.W_q, mha.W_k, mha.W_v)]
    rate = mha.attention.dropout.p if hasattr(mha, "attention") else mha.dropout.p
    small = SmallAttention(len(stay), *layers, part(mha.W_o, features, 1), rate)
    return small.train(mha.training)
