# exercise: DecoderBlock
# says: leaves the state alone and returns a new one
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
        enc_outputs, enc_valid_lens, caches = state
        mine = caches[self.i]
        mine = X if mine is None else torch.cat((mine, X), dim=1)
        new_caches = [mine if j == self.i else c for j, c in enumerate(caches)]
        lens = None
        if self.training:
            lens = torch.arange(1, X.shape[1] + 1, device=X.device)[None, :].expand(X.shape[0], -1)
        Y = self.addnorm1(X, self.attention1(X, mine, mine, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), [enc_outputs, enc_valid_lens, new_caches]
