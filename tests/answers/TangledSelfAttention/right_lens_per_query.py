# exercise: TangledSelfAttention
# says: causal through lengths 1 … T and the given attention
# kind: same
# breaks:

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv

class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.attention = DotProductAttention(0.0)

    def forward(self, x):
        q, k, v = (transpose_qkv(layer(x), self.n_head) for layer in (self.w_q, self.w_k, self.w_v))
        lens = torch.arange(1, x.shape[1] + 1, device=x.device).repeat(q.shape[0], 1)
        return self.fc_out(transpose_output(self.attention(q, k, v, lens), self.n_head))
