# exercise: AddNorm
# says: hand-made dropout without dividing by 1-p
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
        if self.training:
            Y = Y * torch.bernoulli(torch.full_like(Y, 1 - self.p))
        return self.ln(X + Y)
