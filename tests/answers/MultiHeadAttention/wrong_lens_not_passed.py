# exercise: MultiHeadAttention
# says: valid_lens not passed to the attention
# kind: mistake
# breaks: masking

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q, self.W_k, self.W_v = (nn.Linear(n, num_hiddens, bias=bias) for n in (query_size, key_size, value_size))
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = (transpose_qkv(W(x), self.num_heads)
                   for W, x in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values)))
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
        return self.W_o(transpose_output(self.attention(q, k, v), self.num_heads))
