# exercise: PositionalEncoding
# says: X += P mutates the input
# kind: mistake
# breaks: purity

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        P = torch.zeros(1, max_len, num_hiddens)
        X = torch.arange(max_len, dtype=torch.float32).reshape(-1, 1) / torch.pow(
            10000, torch.arange(0, num_hiddens, 2, dtype=torch.float32) / num_hiddens)
        P[:, :, 0::2] = torch.sin(X)
        P[:, :, 1::2] = torch.cos(X[:, :num_hiddens // 2])
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        X += self.P[:, :X.shape[1], :]
        return self.dropout(X)
