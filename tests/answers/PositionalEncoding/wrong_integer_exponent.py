# exercise: PositionalEncoding
# says: exponent by integer division: every frequency is 1
# kind: mistake
# breaks: values

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        X = torch.arange(max_len).reshape(-1, 1) / 10000 ** (torch.arange(0, num_hiddens, 2) // num_hiddens)
        P = torch.zeros((1, max_len, num_hiddens))
        P[:, :, 0::2] = torch.sin(X)
        P[:, :, 1::2] = torch.cos(X)[:, :num_hiddens // 2]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:, :X.shape[1], :])
