# exercise: EncoderBlock
# says: all parts written in the file, fused qkv projection, Conv1d feed-forward
# kind: same
# breaks:

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads, p, bias):
        super().__init__()
        self.heads, self.p = heads, p
        self.qkv = nn.Linear(width, 3 * width, bias=bias)
        self.W_o = nn.Linear(width, width, bias=bias)

    def forward(self, x, keep):
        n, t, w = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        a = q @ k.mT * (w // self.heads) ** -0.5
        if keep is not None:
            a = a + keep.unsqueeze(1).to(a.dtype).log()
        a = torch.dropout(a.softmax(-1), self.p, self.training)
        return self.W_o((a @ v).transpose(1, 2).reshape(n, t, w))


class AddNorm(nn.Module):
    def __init__(self, shape, p):
        super().__init__()
        self.ln, self.drop = nn.LayerNorm(shape), nn.Dropout(p)

    def forward(self, x, y):
        return self.ln(self.drop(y) + x)


class FFN(nn.Module):
    def __init__(self, i, h, o):
        super().__init__()
        self.dense1, self.dense2 = nn.Conv1d(i, h, 1), nn.Conv1d(h, o, 1)

    def forward(self, x):
        return self.dense2(self.dense1(x.mT).relu()).mT


class EncoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.attention = Attention(num_hiddens, num_heads, dropout, use_bias)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.ffn = FFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, dropout)

    def forward(self, X, valid_lens):
        keep = None
        if valid_lens is not None:
            lens = valid_lens.view(len(X), -1, 1)            # (B, 1, 1) or (B, T, 1)
            keep = torch.arange(X.shape[1], device=X.device).view(1, 1, -1) < lens
        Y = self.addnorm1(X, self.attention(X, keep))
        return self.addnorm2(Y, self.ffn(Y))
