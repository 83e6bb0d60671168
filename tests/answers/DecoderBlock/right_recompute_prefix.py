# exercise: DecoderBlock
# says: keeps the prefix and computes all of it again at each step
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

    def whole(self, X, enc_outputs, enc_valid_lens):
        T = X.shape[1]
        lens = torch.arange(1, T + 1, device=X.device).repeat(X.shape[0], 1)
        Y = self.addnorm1(X, self.attention1(X, X, X, lens))
        if enc_valid_lens is not None and enc_valid_lens.dim() == 2 and enc_valid_lens.shape[1] != T:
            enc_valid_lens = enc_valid_lens[:, -1:].expand(-1, T)
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z))

    def forward(self, X, state):
        if self.training:
            return self.whole(X, state[0], state[1]), state
        # not clever, but there is only one formula to get right
        prefix = X if state[2][self.i] is None else torch.cat([state[2][self.i], X], dim=1)
        state[2][self.i] = prefix
        return self.whole(prefix, state[0], state[1])[:, -X.shape[1]:], state
