# exercise: MixedUpAttention
# says: lengths copied per head by indexing, the name spelt right
# kind: same
# breaks:

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MixedUpAttention(nn.Module):
    """The three inputs, each with a layer of its own."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        for name, size in [('W_q', query_size), ('W_k', key_size), ('W_v', value_size), ('W_o', num_hiddens)]:
            setattr(self, name, nn.Linear(size, num_hiddens, bias=bias))

    def forward(self, queries, keys, values, valid_lens):
        H = self.num_heads
        if valid_lens is not None:
            rows = torch.arange(queries.shape[0] * H, device=valid_lens.device) // H
            valid_lens = valid_lens[rows]
        Z = self.attention(transpose_qkv(self.W_q(queries), H),
                           transpose_qkv(self.W_k(keys), H),
                           transpose_qkv(self.W_v(values), H), valid_lens)
        return self.W_o(transpose_output(Z, H))
