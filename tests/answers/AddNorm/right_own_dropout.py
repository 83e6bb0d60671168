# exercise: AddNorm
# says: dropout by a Bernoulli mask, rescaled
# kind: same
# breaks:

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.keep = 1 - dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        if self.training and self.keep < 1:
            mask = (torch.rand_like(Y) < self.keep).type_as(Y)
            Y = mask * Y / self.keep
        return self.ln(X + Y)
