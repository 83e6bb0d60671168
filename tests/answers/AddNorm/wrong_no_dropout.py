# exercise: AddNorm
# says: dropout missing
# kind: mistake
# breaks: modes

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        return self.ln(torch.add(X, Y))
