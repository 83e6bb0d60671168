# exercise: DecoderBlock
# says: boolean causal mask through scaled_dot_product_attention
# kind: same
# breaks:

import torch
import torch.nn.functional as F
from torch import nn, Tensor
from grader.given import AddNorm, PositionWiseFFN


class _Attn(nn.Module):
    def __init__(self, k: int, q: int, v: int, n: int, h: int, p: float) -> None:
        super().__init__()
        self.h, self.p = h, p
        self.W_q = nn.Linear(q, n, bias=False)
        self.W_k = nn.Linear(k, n, bias=False)
        self.W_v = nn.Linear(v, n, bias=False)
        self.W_o = nn.Linear(n, n, bias=False)

    def forward(self, x: Tensor, mem: Tensor, attend: Tensor | None) -> Tensor:
        q, k, v = (f(t).unflatten(-1, (self.h, -1)).transpose(1, 2)
                   for f, t in ((self.W_q, x), (self.W_k, mem), (self.W_v, mem)))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=attend,
                                           dropout_p=self.p if self.training else 0.0)
        return self.W_o(y.transpose(1, 2).flatten(2))


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = _Attn(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = _Attn(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc, lens, cache = state
        if self.training:
            mem = X
            T = X.shape[1]
            look = torch.tril(torch.ones(T, T, dtype=torch.bool, device=X.device))
        else:
            mem = cache[self.i] = X if cache[self.i] is None else torch.cat([cache[self.i], X], 1)
            look = None
        Y = self.addnorm1(X, self.attention1(X, mem, look))
        if lens is None:
            ok = None
        else:
            ok = torch.arange(enc.shape[1], device=enc.device) < lens[..., None]   # (B, S) or (B, T, S)
            ok = ok[:, None, None] if ok.dim() == 2 else ok[:, None]
        Z = self.addnorm2(Y, self.attention2(Y, enc, ok))
        return self.addnorm3(Z, self.ffn(Z)), state
