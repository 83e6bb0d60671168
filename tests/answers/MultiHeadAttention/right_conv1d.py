# exercise: MultiHeadAttention
# says: projections as Conv1d with kernel size 1
# kind: same
# breaks:

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Conv1d(query_size, num_hiddens, kernel_size=1, bias=bias)
        self.W_k = nn.Conv1d(key_size, num_hiddens, kernel_size=1, bias=bias)
        self.W_v = nn.Conv1d(value_size, num_hiddens, kernel_size=1, bias=bias)
        self.W_o = nn.Conv1d(num_hiddens, num_hiddens, kernel_size=1, bias=bias)

    @staticmethod
    def apply_conv(conv, x):
        return conv(x.transpose(1, 2)).transpose(1, 2)      # channels are the features

    def forward(self, queries, keys, values, valid_lens):
        q = transpose_qkv(self.apply_conv(self.W_q, queries), self.num_heads)
        k = transpose_qkv(self.apply_conv(self.W_k, keys), self.num_heads)
        v = transpose_qkv(self.apply_conv(self.W_v, values), self.num_heads)
        if valid_lens is not None:
            valid_lens = torch.repeat_interleave(valid_lens, self.num_heads, dim=0)
        out = transpose_output(self.attention(q, k, v, valid_lens), self.num_heads)
        return self.apply_conv(self.W_o, out)
