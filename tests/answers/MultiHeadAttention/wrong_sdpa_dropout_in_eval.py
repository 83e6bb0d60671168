# exercise: MultiHeadAttention
# says: dropout_p passed to scaled_dot_product_attention without self.training
# kind: mistake
# breaks: modes

import torch
from torch import nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = self.split(self.W_q(queries)), self.split(self.W_k(keys)), self.split(self.W_v(values))
        mask = None
        if valid_lens is not None:
            mask = torch.arange(k.shape[2], device=k.device) < valid_lens.reshape(len(k), 1, -1, 1)
        with torch.no_grad():
            s = q @ k.mT / q.shape[-1] ** 0.5
            self.attention_weights = (s if mask is None else s.masked_fill(~mask, -torch.inf)).softmax(-1)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=self.dropout)
        return self.W_o(out.transpose(1, 2).flatten(2))
