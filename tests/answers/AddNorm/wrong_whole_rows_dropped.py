# exercise: AddNorm
# says: whole steps dropped instead of single features
# kind: mistake
# breaks: modes

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.p = dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        if self.training and self.p > 0:
            keep = torch.rand(Y.shape[:-1], device=Y.device) > self.p
            Y = Y * keep.unsqueeze(-1) / (1 - self.p)
        return self.ln(X + Y)
