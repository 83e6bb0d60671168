# exercise: PositionalEncoding
# says: halves (sin then cos) instead of interleaved
# kind: different
# breaks: values

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        inv_freq = 1.0 / (10000 ** (torch.arange(0.0, num_hiddens, 2.0) / num_hiddens))
        sinusoid = torch.outer(torch.arange(float(max_len)), inv_freq)
        P = torch.cat([sinusoid.sin(), sinusoid.cos()], dim=-1)[:, :num_hiddens]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:X.shape[1]])
