# exercise: EncoderBlock
# says: one small Linear per head
# kind: same
# breaks:

import math
import torch
from torch import nn
from grader.given import AddNorm, PositionWiseFFN


class PerHead(nn.Module):
    def __init__(self, sizes, width, num_heads, p, bias):
        super().__init__()
        q, k, v = sizes
        small = lambda n: nn.ModuleList([nn.Linear(n, width // num_heads, bias=bias) for _ in range(num_heads)])
        self.W_q, self.W_k, self.W_v = small(q), small(k), small(v)
        self.W_o = nn.Linear(width, width, bias=bias)
        self.dropout = nn.Dropout(p)

    def forward(self, X, lens):
        results = []
        for to_q, to_k, to_v in zip(self.W_q, self.W_k, self.W_v):
            Q, K, V = to_q(X), to_k(X), to_v(X)
            scores = torch.bmm(Q, K.transpose(1, 2)) / math.sqrt(Q.shape[-1])
            if lens is not None:
                for b in range(len(X)):
                    row_lens = lens[b].expand(X.shape[1])
                    outside = torch.arange(X.shape[1], device=X.device) >= row_lens.unsqueeze(1)
                    scores[b] = scores[b].masked_fill(outside, float("-inf"))
            results.append(torch.bmm(self.dropout(scores.softmax(dim=-1)), V))
        return self.W_o(torch.cat(results, dim=-1))


class EncoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.attention = PerHead((query_size, key_size, value_size), num_hiddens, num_heads, dropout, use_bias)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, dropout)

    def forward(self, X, valid_lens):
        Y = self.addnorm1(X, self.attention(X, valid_lens))
        return self.addnorm2(Y, self.ffn(Y))
