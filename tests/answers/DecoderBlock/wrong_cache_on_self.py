# exercise: DecoderBlock
# says: cache stored on the module and never emptied: a second decoding sees the first
# kind: mistake
# breaks: modes

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
        self.cache = None

    def forward(self, X, state):
        enc, enc_lens = state[0], state[1]
        if self.training:
            mem = X
            lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1)
        else:
            mem = X if self.cache is None else torch.cat((self.cache, X), dim=1)
            self.cache = mem.detach()
            lens = None
        Y = self.addnorm1(X, self.attention1(X, mem, mem, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc, enc, enc_lens))
        Y = self.addnorm3(Z, self.ffn(Z))
        return Y, state
