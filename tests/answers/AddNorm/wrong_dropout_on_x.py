# exercise: AddNorm
# says: dropout on X, not Y
# kind: mistake
# breaks: modes

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout, **kwargs):
        super(AddNorm, self).__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        return self.ln(self.dropout(X) + Y)
