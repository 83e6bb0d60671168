# exercise: PositionalEncoding
# says: positions start at 1
# kind: mistake
# breaks: values

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        i = torch.arange(1, max_len + 1).view(-1, 1)
        angles = i / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        P = torch.empty(max_len, num_hiddens)
        P[:, 0::2], P[:, 1::2] = angles.sin(), angles.cos()[:, :num_hiddens // 2]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[None, :X.shape[1]])
