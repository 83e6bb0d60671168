# exercise: TangledSelfAttention
# says: Q K^T, a (T, T) mask, masked_fill with -inf
# kind: same
# breaks:

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.triu(torch.ones(time, time, dtype=x.dtype, device=x.device), diagonal=1)
        mask = mask.masked_fill(mask == 1, float('-inf'))
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)
