# exercise: DecoderBlock
# says: one add & norm object used for all three sub-layers
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
        kv = X if cache[self.i] is None else torch.cat((cache[self.i], X), 1)
        cache[self.i] = kv
        lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1) if self.training else None
        norm = self.addnorm1
        h = norm(X, self.attention1(X, kv, kv, lens))
        h = norm(h, self.attention2(h, enc, enc, enc_lens))
        return norm(h, self.ffn(h)), state
