# exercise: PositionalEncoding
# says: learned positions
# kind: different
# breaks: values

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.pos = nn.Parameter(torch.randn(1, max_len, num_hiddens) * 0.02)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X):
        return self.dropout(X + self.pos[:, :X.shape[1]])
