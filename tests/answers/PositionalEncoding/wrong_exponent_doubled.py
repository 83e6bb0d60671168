# exercise: PositionalEncoding
# says: exponent doubled: 2 times a column that already goes in steps of two
# kind: mistake
# breaks: values

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        P = torch.zeros(max_len, num_hiddens)
        pos = torch.arange(max_len).float()
        for i in range(0, num_hiddens, 2):
            P[:, i] = torch.sin(pos / 10000 ** (2 * i / num_hiddens))
            if i + 1 < num_hiddens:
                P[:, i + 1] = torch.cos(pos / 10000 ** (2 * i / num_hiddens))
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return self.drop(X + self.P[:X.shape[1]])
