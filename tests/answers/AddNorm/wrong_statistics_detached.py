# exercise: AddNorm
# says: mean and deviation computed without gradient
# kind: mistake
# breaks: gradients

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        Z = X + self.dropout(Y)
        axes = tuple(range(-len(self.ln.normalized_shape), 0))
        with torch.no_grad():
            mu = Z.mean(axes, keepdim=True)
            sigma = (Z.var(axes, keepdim=True, correction=0) + self.ln.eps).sqrt()
        return (Z - mu) / sigma * self.ln.weight + self.ln.bias
