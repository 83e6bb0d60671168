# exercise: AddNorm
# says: LayerNorm by hand with parameters ln.weight and ln.bias
# kind: same
# breaks:

import torch
from torch import nn


class HandNorm(nn.Module):
    def __init__(self, shape, eps=1e-5):
        super().__init__()
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.axes = [-1 - j for j in range(len(shape))]
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(shape))
        self.bias = nn.Parameter(torch.zeros(shape))

    def forward(self, z):
        centred = z - z.mean(self.axes, keepdim=True)
        variance = centred.pow(2).mean(self.axes, keepdim=True)
        return centred * torch.rsqrt(variance + self.eps) * self.weight + self.bias


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = HandNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        return self.ln(self.dropout(Y) + X)
