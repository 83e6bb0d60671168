# exercise: PositionalEncoding
# says: dropout missing
# kind: mistake
# breaks: modes

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        P = torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1)[:, :num_hiddens]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return X + self.P[:X.shape[1]]
