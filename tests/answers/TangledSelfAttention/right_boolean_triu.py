# exercise: TangledSelfAttention
# says: boolean triu(diagonal=1) and masked_fill
# kind: same
# breaks:

import math
import torch
import torch.nn as nn

class TangledSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_head: int):
        super().__init__()
        self.n_head = n_head
        self.d = d_model // n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, T, D = x.shape
        q, k, v = (w(x).unflatten(-1, (self.n_head, self.d)).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        scores = (q @ k.mT / math.sqrt(self.d)).masked_fill(future, -torch.inf)
        return self.fc_out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
