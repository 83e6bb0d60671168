# exercise: PositionalEncoding
# says: a second call continues where the first one stopped
# kind: mistake
# breaks: purity

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.step, self.max_len = 0, max_len
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.register_buffer("P", torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[None, :, :num_hiddens], persistent=False)

    def forward(self, X):
        T = X.shape[1]
        if self.step + T > self.max_len:
            self.step = 0
        P = self.P[:, self.step:self.step + T]
        self.step += T
        return self.dropout(X + P)
