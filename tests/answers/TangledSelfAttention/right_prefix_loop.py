# exercise: TangledSelfAttention
# says: each step attends to the prefix up to itself, in a loop
# kind: same
# breaks:

import torch
from torch import nn

class TangledSelfAttention(nn.Module):
    """Causal without a mask: step t gets keys 0 … t and no others."""
    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        B, T, D = x.shape
        d = D // self.n_head
        shape = (B, T, self.n_head, d)
        q, k, v = self.w_q(x).view(shape), self.w_k(x).view(shape), self.w_v(x).view(shape)
        steps = []
        for t in range(T):
            a = torch.einsum('bhd,bshd->bhs', q[:, t], k[:, :t + 1]) / d ** 0.5
            steps.append(torch.einsum('bhs,bshd->bhd', a.softmax(-1), v[:, :t + 1]).reshape(B, D))
        return self.fc_out(torch.stack(steps, dim=1))
