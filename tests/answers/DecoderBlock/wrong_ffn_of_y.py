# exercise: DecoderBlock
# says: feed-forward applied to Y, not to Z
# kind: mistake
# breaks: values

import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.idx = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc, vl = state[0], state[1]
        T = X.shape[1]
        if self.training:
            mem, lens = X, torch.arange(1, T + 1, device=X.device).tile((X.shape[0], 1))
        else:
            mem, lens = X, None
            if state[2][self.idx] is not None:
                mem = torch.cat([state[2][self.idx], X], dim=-2)
            state[2][self.idx] = mem
        Y = self.addnorm1(X, self.attention1(X, mem, mem, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc, enc, vl))
        out = self.addnorm3(Z, self.ffn(Y))
        return out, state
