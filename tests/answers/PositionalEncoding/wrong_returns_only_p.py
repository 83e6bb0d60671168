# exercise: PositionalEncoding
# says: returns only P
# kind: different
# breaks: values

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.register_buffer("P", torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[None, :, :num_hiddens], persistent=False)

    def forward(self, X):
        B, T, D = X.shape
        return self.dropout(self.P[:, :T].expand(B, T, D))
