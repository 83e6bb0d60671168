# exercise: PositionalEncoding
# says: angles turned into radians once more
# kind: mistake
# breaks: values

import numpy as np
import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        cols = np.arange(num_hiddens)
        ang = np.arange(max_len)[:, None] / np.power(10000., (cols - cols % 2) / num_hiddens)
        ang = np.deg2rad(ang)
        ang[:, 0::2], ang[:, 1::2] = np.sin(ang[:, 0::2]), np.cos(ang[:, 1::2])
        self.register_buffer("P", torch.tensor(ang, dtype=torch.float32).unsqueeze(0), persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:, :X.shape[1]])
