# exercise: DecoderBlock
# says: caches the block's output
# kind: mistake
# breaks: modes

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1, self.addnorm2, self.addnorm3 = [AddNorm(norm_shape, dropout) for _ in "abc"]
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, produced = state
        before = produced[self.i]
        if before is None:
            key_values = X
        else:
            key_values = torch.cat((before, X), dim=1)

        lens = torch.arange(1, X.shape[1] + 1, device=X.device).repeat(X.shape[0], 1) if self.training else None
        Y = self.addnorm1(X, self.attention1(X, key_values, key_values, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        out = self.addnorm3(Z, self.ffn(Z))

        # remember what this block has produced so far
        produced[self.i] = out if before is None else torch.cat((before, out), dim=1)
        return out, state
