# exercise: DecoderBlock
# says: addnorm1 and addnorm2 exchanged
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
        enc, enc_lens, cache = state
        kv = X if cache[self.idx] is None else torch.cat((cache[self.idx], X), 1)
        cache[self.idx] = kv
        lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1) if self.training else None
        h = self.addnorm2(X, self.attention1(X, kv, kv, lens))
        h = self.addnorm1(h, self.attention2(h, enc, enc, enc_lens))
        h = self.addnorm3(h, self.ffn(h))
        return h, state
