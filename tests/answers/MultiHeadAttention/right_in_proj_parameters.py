# exercise: MultiHeadAttention
# says: parameters in the layout of PyTorch's own layer: in_proj_weight or three matrices
# kind: same
# breaks:

import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.dropout = dropout
        D = num_hiddens
        if key_size == query_size == value_size:
            self.in_proj_weight = nn.Parameter(torch.empty(3 * D, query_size))
            for part in self.in_proj_weight.data.chunk(3):
                nn.init.xavier_uniform_(part)
        else:
            self.q_proj_weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(D, query_size)))
            self.k_proj_weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(D, key_size)))
            self.v_proj_weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(D, value_size)))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * D)) if bias else None
        self.out_proj = nn.Linear(D, D, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        if hasattr(self, 'in_proj_weight'):
            wq, wk, wv = self.in_proj_weight.chunk(3)
        else:
            wq, wk, wv = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        bq, bk, bv = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q, k, v = F.linear(queries, wq, bq), F.linear(keys, wk, bk), F.linear(values, wv, bv)
        q, k, v = (x.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for x in (q, k, v))
        scores = q @ k.transpose(2, 3) / q.shape[-1] ** 0.5
        if valid_lens is not None:
            lens = valid_lens.reshape(len(k), 1, -1, 1)
            scores = scores.masked_fill(torch.arange(k.shape[2], device=k.device) >= lens, float('-inf'))
        self.attention_weights = scores.softmax(-1)
        weights = F.dropout(self.attention_weights, self.dropout, self.training)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2))
