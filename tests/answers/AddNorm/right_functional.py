# exercise: AddNorm
# says: functional dropout and layer_norm
# kind: same
# breaks:

import torch.nn.functional as F
from torch import Tensor, nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout: float) -> None:
        super().__init__()
        self.p = dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X: Tensor, Y: Tensor) -> Tensor:
        Y = F.dropout(Y, p=self.p, training=self.training)
        return F.layer_norm(X + Y, self.ln.normalized_shape, self.ln.weight, self.ln.bias, self.ln.eps)
