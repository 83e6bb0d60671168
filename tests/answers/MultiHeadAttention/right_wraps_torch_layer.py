# exercise: MultiHeadAttention
# says: wraps nn.MultiheadAttention where the query size allows it
# kind: same
# breaks:

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """nn.MultiheadAttention wants query_size == num_hiddens; other sizes take the long way."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.wrapped = query_size == num_hiddens
        if self.wrapped:
            self.mha = nn.MultiheadAttention(num_hiddens, num_heads, dropout=dropout, bias=bias,
                                             kdim=key_size, vdim=value_size, batch_first=True)
        else:
            self.attention = DotProductAttention(dropout)
            self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
            self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
            self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
            self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        if not self.wrapped:
            q = transpose_qkv(self.W_q(queries), self.num_heads)
            k = transpose_qkv(self.W_k(keys), self.num_heads)
            v = transpose_qkv(self.W_v(values), self.num_heads)
            if valid_lens is not None:
                valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
            out = self.attention(q, k, v, valid_lens)
            self.attention_weights = self.attention.attention_weights
            return self.W_o(transpose_output(out, self.num_heads))
        B, T, S = queries.shape[0], queries.shape[1], keys.shape[1]
        ignore = None
        if valid_lens is not None:
            ignore = torch.arange(S, device=keys.device) >= valid_lens.reshape(B, -1, 1)
            ignore = ignore.expand(B, T, S).repeat_interleave(self.num_heads, dim=0)    # True: do not look
        out, weights = self.mha(queries, keys, values, attn_mask=ignore,
                                need_weights=True, average_attn_weights=False)
        if self.training and self.mha.dropout > 0:
            with torch.no_grad():        # the layer hands out dropped weights; look again without dropout
                self.mha.eval()
                _, weights = self.mha(queries, keys, values, attn_mask=ignore,
                                      need_weights=True, average_attn_weights=False)
                self.mha.train()
        self.attention_weights = weights
        return out
