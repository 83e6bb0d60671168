# exercise: PositionalEncoding
# says: complex exponentials: imaginary and real part side by side
# kind: same
# breaks:

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        w = 10000.0 ** (-torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens)
        phase = torch.outer(torch.arange(max_len, dtype=torch.float64), w)
        z = torch.polar(torch.ones_like(phase), phase)
        P = torch.stack((z.imag, z.real), dim=-1).reshape(max_len, -1)[:, :num_hiddens]
        self.register_buffer("P", P.float(), persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:X.shape[1]].to(X))
