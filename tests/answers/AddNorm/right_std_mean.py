# exercise: AddNorm
# says: population deviation through torch.var_mean
# kind: same
# breaks:

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        total = torch.stack([X, self.dropout(Y)]).sum(0)
        dims = tuple(range(total.dim() - self.ln.weight.dim(), total.dim()))
        v, m = torch.var_mean(total, dims, correction=0, keepdim=True)
        return torch.addcmul(self.ln.bias, (total - m) / (v + 1e-5).sqrt(), self.ln.weight)
