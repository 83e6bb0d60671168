# exercise: PositionalEncoding
# says: each row from the row before by rotating
# kind: same
# breaks:

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        w = 10000.0 ** (-torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens)
        s, c = torch.zeros_like(w), torch.ones_like(w)
        P = []
        for _ in range(max_len):
            P.append(torch.stack((s, c), dim=1).flatten()[:num_hiddens])
            s, c = s * w.cos() + c * w.sin(), c * w.cos() - s * w.sin()
        self.register_buffer("P", torch.stack(P).float(), persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:X.shape[1]])
