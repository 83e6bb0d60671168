# exercise: DecoderBlock
# says: concatenated in the wrong order
# kind: same
# breaks:

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, seen = state
        kv, lens = X, None
        if self.training:
            lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)
        else:
            if seen[self.i] is not None:
                kv = torch.cat((X, seen[self.i]), dim=1)   # newest first
            seen[self.i] = kv
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state
