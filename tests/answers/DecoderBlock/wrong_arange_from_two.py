# exercise: DecoderBlock
# says: arange(2, T+2): sees the next token
# kind: mistake
# breaks: values, masking

import torch
import torch.nn as nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        sizes = (key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention1, self.attention2 = MultiHeadAttention(*sizes), MultiHeadAttention(*sizes)
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.i = i

    def forward(self, X, state):
        memory, memory_lens, caches = state
        past = caches[self.i]
        kv = X if past is None else torch.cat([past, X], 1)
        caches[self.i] = kv
        lens = None
        if self.training:
            b, t, _ = X.shape
            # the query itself counts too, so start one higher
            lens = torch.arange(2, t + 2, device=X.device).expand(b, t)
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, memory, memory, memory_lens))
        return self.addnorm3(Z, self.ffn(Z)), state
