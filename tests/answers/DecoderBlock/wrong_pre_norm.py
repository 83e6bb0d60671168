# exercise: DecoderBlock
# says: pre-norm block: normalises before each sub-layer
# kind: different
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
        n1, n2, n3 = self.addnorm1.ln, self.addnorm2.ln, self.addnorm3.ln
        h = n1(X)
        kv = cache[self.i] = h if cache[self.i] is None else torch.cat((cache[self.i], h), dim=1)
        lens = None
        if self.training:
            lens = torch.arange(1, X.size(1) + 1, device=X.device).repeat(X.size(0), 1)
        X = X + self.attention1(h, kv, kv, lens)
        X = X + self.attention2(n2(X), enc, enc, enc_lens)
        X = X + self.ffn(n3(X))
        return X, state
