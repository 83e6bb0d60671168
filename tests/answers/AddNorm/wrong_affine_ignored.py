# exercise: AddNorm
# says: weight and bias are there but not used
# kind: mistake
# breaks: values

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        S = X + self.dropout(Y)
        return nn.functional.layer_norm(S, self.ln.normalized_shape)
