# exercise: PositionalEncoding
# says: exponent i/d instead of 2i/d
# kind: mistake
# breaks: values

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        half = (num_hiddens + 1) // 2
        pos = torch.arange(max_len, dtype=torch.float32).unsqueeze(1)
        freq = torch.pow(10000, torch.arange(half, dtype=torch.float32) / num_hiddens)
        P = torch.zeros(1, max_len, num_hiddens)
        P[:, :, 0::2] = torch.sin(pos / freq)
        P[:, :, 1::2] = torch.cos(pos / freq)[:, :num_hiddens // 2]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:, :X.shape[1]])
