# exercise: EncoderBlock
# says: attention added into X in place
# kind: mistake
# breaks: purity

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class EncoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.attention = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout, use_bias)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.drop = nn.Dropout(dropout)

    def forward(self, X, valid_lens):
        copy = X.clone()
        X += self.drop(self.attention(copy, copy, copy, valid_lens))
        Y = self.addnorm1.ln(X.clone())
        return self.addnorm2(Y, self.ffn(Y))
