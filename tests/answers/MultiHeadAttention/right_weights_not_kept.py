# exercise: MultiHeadAttention
# says: attention_weights not stored
# kind: policy
# breaks:

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)
