# exercise: AddNorm
# says: dropout active in eval too
# kind: mistake
# breaks: modes

import torch
from torch import nn
from torch.nn import functional as F

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.rate = dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        Y = F.dropout(Y, self.rate)
        return self.ln(Y + X)
