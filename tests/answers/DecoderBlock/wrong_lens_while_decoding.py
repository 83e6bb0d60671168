# exercise: DecoderBlock
# says: same lens also used while decoding token by token
# kind: mistake
# breaks: modes

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        mha = lambda: MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        norm = lambda: AddNorm(norm_shape, dropout)
        self.attention1, self.addnorm1 = mha(), norm()
        self.attention2, self.addnorm2 = mha(), norm()
        self.ffn, self.addnorm3 = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens), norm()

    def forward(self, X, state):
        enc, enc_lens = state[0], state[1]
        cache = state[2][self.i]
        kv = X if cache is None else torch.cat((cache, X), dim=1)
        state[2][self.i] = kv
        # causal mask
        steps = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1)
        Y = self.addnorm1(X, self.attention1(X, kv, kv, steps))
        Z = self.addnorm2(Y, self.attention2(Y, enc, enc, enc_lens))
        out = self.addnorm3(Z, self.ffn(Z))
        return out, state
