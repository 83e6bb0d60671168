# exercise: PositionalEncoding
# says: no table: made at each call on X's device
# kind: same
# breaks:

import torch
import torch.nn.functional as F
from torch import nn, Tensor

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 1000) -> None:
        super().__init__()
        self.p = dropout

    def forward(self, X: Tensor) -> Tensor:
        _, T, D = X.shape
        j = torch.arange(D, device=X.device)
        w = torch.exp2(-(j - j % 2) / D * 13.287712379549449)      # log2(10000)
        shift = (j % 2) * (torch.pi / 2)                           # cos(a) = sin(a + pi/2)
        P = torch.sin(torch.arange(T, device=X.device)[:, None] * w + shift)
        return F.dropout(X + P.to(X.dtype), self.p, self.training)
