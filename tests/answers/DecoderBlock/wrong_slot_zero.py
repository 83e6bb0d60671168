# exercise: DecoderBlock
# says: all layers share cache slot 0
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
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        for n in (1, 2, 3):
            setattr(self, f'addnorm{n}', AddNorm(norm_shape, dropout))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        (enc, lens, cache) = state
        if self.training:
            kv = X
            causal = torch.arange(1, X.shape[1] + 1, device=X.device).unsqueeze(0).expand(X.shape[0], -1)
        else:
            kv = X if cache[0] is None else torch.cat((cache[0], X), 1)
            cache[0] = kv
            causal = None
        Y = self.addnorm1(X, self.attention1(X, kv, kv, causal))
        Z = self.addnorm2(Y, self.attention2(Y, enc, enc, lens))
        return self.addnorm3(Z, self.ffn(Z)), state
