# exercise: DecoderBlock
# says: causal mask written for the first batch entry only
# kind: mistake
# breaks: values, masking

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
        memory, memory_len, cache = state
        B, T, _ = X.shape
        keys = X if cache[self.idx] is None else torch.cat([cache[self.idx], X], dim=1)
        cache[self.idx] = keys
        if self.training:
            lens = torch.full((B, T), T, device=X.device)
            lens[0] = torch.arange(1, T + 1)
        else:
            lens = None
        h = self.addnorm1(X, self.attention1(X, keys, keys, lens))
        h2 = self.addnorm2(h, self.attention2(h, memory, memory, memory_len))
        return self.addnorm3(h2, self.ffn(h2)), state
