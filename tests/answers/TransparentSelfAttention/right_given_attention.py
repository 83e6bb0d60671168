# exercise: TransparentSelfAttention
# says: the given attention with lengths 1 … T, weights split by head
# kind: same
# breaks:

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv

class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.attention = DotProductAttention(dropout)

    def forward(self, x):
        B, T, _ = x.shape
        Q = transpose_qkv(self.W_Q(x), self.num_heads)
        K = transpose_qkv(self.W_K(x), self.num_heads)
        V = transpose_qkv(self.W_V(x), self.num_heads)
        lens = torch.arange(1, T + 1, device=x.device).expand(B * self.num_heads, T)
        out = self.fc_out(transpose_output(self.attention(Q, K, V, lens), self.num_heads))
        return out, self.attention.attention_weights.view(B, self.num_heads, T, T)
