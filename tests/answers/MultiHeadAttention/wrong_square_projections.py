# exercise: MultiHeadAttention
# says: all projections num_hiddens -> num_hiddens
# kind: mistake
# breaks: values

import torch
from torch import nn
from torch.nn import functional as F


def lengths_to_mask(lens, num_queries, num_keys):
    """True where a query may look."""
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(-1, num_queries)
    steps = torch.arange(num_keys, device=lens.device)
    return steps < lens.unsqueeze(-1)


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = num_hiddens // num_heads
        self.p = dropout
        self.W_q = nn.Linear(num_hiddens, num_hiddens, bias)
        self.W_k = nn.Linear(num_hiddens, num_hiddens, bias)
        self.W_v = nn.Linear(num_hiddens, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def one_head(self, q, k, v, mask):
        s = q @ k.mT * self.head_dim ** -0.5
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
        a = s.softmax(-1)
        return F.dropout(a, self.p, self.training) @ v, a

    def forward(self, queries, keys, values, valid_lens):
        mask = None
        if valid_lens is not None:
            mask = lengths_to_mask(valid_lens, queries.shape[1], keys.shape[1])
        qs = self.W_q(queries).chunk(self.num_heads, dim=-1)
        ks = self.W_k(keys).chunk(self.num_heads, dim=-1)
        vs = self.W_v(values).chunk(self.num_heads, dim=-1)
        pairs = [self.one_head(q, k, v, mask) for q, k, v in zip(qs, ks, vs)]
        self.attention_weights = [a for _, a in pairs]
        return self.W_o(torch.cat([o for o, _ in pairs], dim=-1))
