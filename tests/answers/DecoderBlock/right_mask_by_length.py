# exercise: DecoderBlock
# says: causal lengths whenever several steps come at once, in whatever mode
# kind: same
# breaks:

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

    def forward(self, X: Tensor, state: list) -> tuple[Tensor, list]:
        enc_outputs, enc_lens, caches = state
        past = caches[self.i]
        kv = caches[self.i] = X if past is None else torch.cat((past, X), dim=1)
        B, T, _ = X.shape
        lens = None
        if T > 1:
            n = kv.shape[1]
            lens = torch.arange(n - T + 1, n + 1, device=X.device).repeat(B, 1)
        Y = self.addnorm1(X, self.attention1(X, kv, kv, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_lens))
        return self.addnorm3(Z, self.ffn(Z)), state
