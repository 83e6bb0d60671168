# exercise: DecoderBlock
# says: cache blended into one vector instead of growing
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

    def forward(self, X, state):
        enc, el, cache = state
        old = cache[self.idx]
        kv = X if old is None or self.training else (old + X) / 2
        cache[self.idx] = kv
        lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1) if self.training else None
        a = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        b = self.addnorm2(a, self.attention2(a, enc, enc, el))
        return self.addnorm3(b, self.ffn(b)), state
