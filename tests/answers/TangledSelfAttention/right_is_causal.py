# exercise: TangledSelfAttention
# says: scaled_dot_product_attention with is_causal
# kind: same
# breaks:

import torch.nn.functional as F
from torch import nn

class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.d_model, self.n_head = d_model, n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.w_q(x).view(b, t, self.n_head, -1).transpose(1, 2)
        k = self.w_k(x).view(b, t, self.n_head, -1).transpose(1, 2)
        v = self.w_v(x).view(b, t, self.n_head, -1).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.fc_out(y.transpose(1, 2).reshape(b, t, self.d_model))
