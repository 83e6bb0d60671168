# exercise: DecoderBlock
# says: caches projected keys and values
# kind: same
# breaks:

import math
import torch
from torch import nn
from grader.given import AddNorm, PositionWiseFFN


class Heads(nn.Module):
    """Multi-head attention cut in two: project keys and values, then attend."""

    def __init__(self, d_k, d_q, d_v, width, heads, p):
        super().__init__()
        self.heads = heads
        self.W_q = nn.Linear(d_q, width, bias=False)
        self.W_k = nn.Linear(d_k, width, bias=False)
        self.W_v = nn.Linear(d_v, width, bias=False)
        self.W_o = nn.Linear(width, width, bias=False)
        self.drop = nn.Dropout(p)

    def cut(self, x):                                   # (B, T, D) -> (B, H, T, d)
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)

    def project(self, memory):
        return self.cut(self.W_k(memory)), self.cut(self.W_v(memory))

    def attend(self, x, k, v, forbidden=None):
        q = self.cut(self.W_q(x))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.size(-1))
        if forbidden is not None:
            scores = scores.masked_fill(forbidden, torch.finfo(scores.dtype).min)
        out = self.drop(torch.softmax(scores, dim=3)) @ v
        return self.W_o(out.transpose(1, 2).reshape(x.shape[0], x.shape[1], -1))


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = Heads(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = Heads(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        memory, memory_lens, cache = state
        k, v = self.attention1.project(X)
        future = None
        if self.training:
            t = X.shape[1]
            future = torch.ones(t, t, dtype=torch.bool, device=X.device).triu(1)
        else:
            if cache[self.i] is not None:
                old_k, old_v = cache[self.i]
                k, v = torch.cat((old_k, k), 2), torch.cat((old_v, v), 2)
            cache[self.i] = (k, v)
        Y = self.addnorm1(X, self.attention1.attend(X, k, v, future))

        padding = None
        if memory_lens is not None:
            lens = memory_lens if memory_lens.dim() == 2 else memory_lens.unsqueeze(1)
            padding = torch.arange(memory.shape[1], device=X.device) >= lens.unsqueeze(-1)
            padding = padding.unsqueeze(1)               # for every head
        Z = self.addnorm2(Y, self.attention2.attend(Y, *self.attention2.project(memory), padding))
        return self.addnorm3(Z, self.ffn(Z)), state
