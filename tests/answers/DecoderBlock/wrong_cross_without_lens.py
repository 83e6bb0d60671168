# exercise: DecoderBlock
# says: cross-attention without enc_valid_lens
# kind: mistake
# breaks: values, masking

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        kw = dict(key_size=key_size, query_size=query_size, value_size=value_size,
                  num_hiddens=num_hiddens, num_heads=num_heads, dropout=dropout)
        self.attention1 = MultiHeadAttention(**kw)
        self.attention2 = MultiHeadAttention(**kw)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def causal_lens(self, X):
        if not self.training:
            return None
        return torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1)

    def forward(self, X, state):
        enc_outputs = state[0]
        old = state[2][self.i]
        state[2][self.i] = X if old is None else torch.cat([old, X], dim=1)
        kv = state[2][self.i]
        X = self.addnorm1(X, self.attention1(X, kv, kv, self.causal_lens(X)))
        X = self.addnorm2(X, self.attention2(X, enc_outputs, enc_outputs, None))
        X = self.addnorm3(X, self.ffn(X))
        return X, state
