# exercise: DecoderBlock
# says: own multi-head attention with einsum, everything in one file
# kind: same
# breaks:

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, dk, dq, dv, D, H, p):
        super().__init__()
        self.H = H
        self.W_q, self.W_k = nn.Linear(dq, D, bias=False), nn.Linear(dk, D, bias=False)
        self.W_v, self.W_o = nn.Linear(dv, D, bias=False), nn.Linear(D, D, bias=False)
        self.dropout = nn.Dropout(p)

    def forward(self, q, k, v, lens):
        B, T, S, H = q.size(0), q.size(1), k.size(1), self.H
        q = self.W_q(q).reshape(B, T, H, -1)
        k = self.W_k(k).reshape(B, S, H, -1)
        v = self.W_v(v).reshape(B, S, H, -1)
        a = torch.einsum("bthd,bshd->bhts", q * q.size(-1) ** -0.5, k)
        if lens is not None:
            if lens.ndim == 1:
                lens = lens.unsqueeze(1).expand(B, T)
            idx = torch.arange(S, device=q.device).view(1, 1, 1, S)
            a = torch.where(idx < lens.view(B, 1, T, 1) if lens.is_contiguous() else idx < lens.reshape(B, 1, T, 1),
                            a, torch.full_like(a, float("-inf")))
        a = a.softmax(-1)
        return self.W_o(torch.einsum("bhts,bshd->bthd", self.dropout(a), v).reshape(B, T, -1))


class AddNorm(nn.Module):
    def __init__(self, shape, p):
        super().__init__()
        self.ln, self.dropout = nn.LayerNorm(shape), nn.Dropout(p)

    def forward(self, x, y):
        return self.ln(x + self.dropout(y))


class FFN(nn.Module):
    def __init__(self, a, b, c):
        super().__init__()
        self.dense1, self.dense2 = nn.Linear(a, b), nn.Linear(b, c)

    def forward(self, x):
        return self.dense2(self.dense1(x).clamp_min(0))


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        args = key_size, query_size, value_size, num_hiddens, num_heads, dropout
        self.attention1, self.addnorm1 = MultiHeadAttention(*args), AddNorm(norm_shape, dropout)
        self.attention2, self.addnorm2 = MultiHeadAttention(*args), AddNorm(norm_shape, dropout)
        self.ffn, self.addnorm3 = FFN(ffn_num_input, ffn_num_hiddens, num_hiddens), AddNorm(norm_shape, dropout)

    def forward(self, x, state):
        kv = x
        lens = None
        if self.training:
            lens = torch.arange(1, x.size(1) + 1, device=x.device).repeat(x.size(0), 1)
        else:
            if state[2][self.i] is not None:
                kv = torch.cat((state[2][self.i], x), 1)
            state[2][self.i] = kv
        y = self.addnorm1(x, self.attention1(x, kv, kv, lens))
        z = self.addnorm2(y, self.attention2(y, state[0], state[0], state[1]))
        return self.addnorm3(z, self.ffn(z)), state
