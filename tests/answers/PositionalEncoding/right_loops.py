# exercise: PositionalEncoding
# says: table filled by two loops and math
# kind: same
# breaks:

import math
import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        rows = []
        for pos in range(max_len):
            row = []
            for j in range(num_hiddens):
                angle = pos / 10000 ** (2 * (j // 2) / num_hiddens)
                row.append(math.sin(angle) if j % 2 == 0 else math.cos(angle))
            rows.append(row)
        self.register_buffer('P', torch.tensor(rows))      # in the state dict as well

    def forward(self, X):
        return self.dropout(X + self.P[:X.shape[1]])
