# exercise: DecoderBlock
# says: cross-attention asked with X instead of Y
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
        enc_outputs, enc_valid_lens, memory = state
        if not self.training and memory[self.idx] is not None:
            keys = torch.cat([memory[self.idx], X], dim=1)
        else:
            keys = X
        memory[self.idx] = keys
        lens = None
        if self.training:
            lens = torch.stack([torch.arange(1, X.shape[1] + 1)] * X.shape[0]).to(X.device)
        Y = self.addnorm1(X, self.attention1(X, keys, keys, lens))
        Z = self.addnorm2(Y, self.attention2(X, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state
