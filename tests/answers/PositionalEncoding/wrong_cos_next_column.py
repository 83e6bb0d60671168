# exercise: PositionalEncoding
# says: cos uses exponent of column i+1
# kind: mistake
# breaks: values

import math
import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        table = torch.zeros(max_len, num_hiddens)
        for pos in range(max_len):
            for i in range(num_hiddens):
                angle = pos / 10000 ** (i / num_hiddens)
                table[pos, i] = math.sin(angle) if i % 2 == 0 else math.cos(angle)
        self.register_buffer('table', table.unsqueeze(0), persistent=False)

    def forward(self, X):
        X = X + self.table[:, :X.size(1)]
        return self.dropout(X)
