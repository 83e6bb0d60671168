# exercise: DecoderBlock
# says: cache ignored (keys = X always)
# kind: mistake
# breaks: modes

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.i = i

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, _ = state
        B, T = X.shape[:2]
        valid = torch.arange(1, T+1, device=X.device).repeat(B, 1)
        a = self.attention1(X, X, X, valid)
        b = self.addnorm1(X, a)
        c = self.attention2(b, enc_outputs, enc_outputs, enc_valid_lens)
        d = self.addnorm2(b, c)
        e = self.ffn(d)
        return self.addnorm3(d, e), state
