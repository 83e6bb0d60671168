# exercise: TransparentSelfAttention
# says: mask, weights before dropout, heads transposed back
# kind: same
# breaks:

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention
