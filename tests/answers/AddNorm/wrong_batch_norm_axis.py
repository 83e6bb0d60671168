# exercise: AddNorm
# says: normalises over the steps, not over the features
# kind: mistake
# breaks: values

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)   # holds weight and bias
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        Z = self.dropout(Y) + X
        mean = Z.mean(dim=1, keepdim=True)
        var = Z.var(dim=1, keepdim=True, unbiased=False)
        return (Z - mean) / torch.sqrt(var + 1e-5) * self.ln.weight + self.ln.bias
