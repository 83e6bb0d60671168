# exercise: DecoderBlock
# says: cross-attention before self-attention
# kind: mistake
# breaks: values

import torch
from torch import Tensor, nn
from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class DecoderBlock(nn.Module):
    def __init__(self, key_size: int, query_size: int, value_size: int, num_hiddens: int,
                 norm_shape, ffn_num_input: int, ffn_num_hiddens: int, num_heads: int,
                 dropout: float, i: int) -> None:
        super().__init__()
        self.i = i
        mha = lambda: MultiHeadAttention(
            key_size=key_size, query_size=query_size, value_size=value_size,
            num_hiddens=num_hiddens, num_heads=num_heads, dropout=dropout)
        self.attention1, self.attention2 = mha(), mha()
        self.addnorm1, self.addnorm2, self.addnorm3 = (AddNorm(norm_shape, dropout) for _ in range(3))
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X: Tensor, state: list):
        enc, enc_lens, cache = state
        Y = self.addnorm2(X, self.attention2(X, enc, enc, enc_lens))
        kv = cache[self.i] = Y if cache[self.i] is None else torch.cat((cache[self.i], Y), 1)
        lens = None
        if self.training:
            lens = torch.arange(1, Y.size(1) + 1, device=Y.device).repeat(Y.size(0), 1)
        Z = self.addnorm1(Y, self.attention1(Y, kv, kv, lens))
        return self.addnorm3(Z, self.ffn(Z)), state
