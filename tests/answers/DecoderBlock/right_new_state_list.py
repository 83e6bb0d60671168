# exercise: DecoderBlock
# says: returns a new state list, written in place as well
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
        source, source_lens, past = state
        steps = [X] if past[self.i] is None or self.training else [past[self.i], X]
        context = torch.cat(steps, dim=1)
        past[self.i] = context
        if self.training:
            visible = torch.ones(X.shape[:2], dtype=torch.long, device=X.device).cumsum(dim=1)
        else:
            visible = None
        Y = self.addnorm1(X, self.attention1(X, context, context, visible))
        Z = self.addnorm2(Y, self.attention2(Y, source, source, source_lens))
        out = self.addnorm3(Z, self.ffn(Z))
        return out, [source, source_lens, list(past)]
