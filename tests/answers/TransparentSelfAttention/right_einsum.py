# exercise: TransparentSelfAttention
# says: einsum, with the mask as a comparison of positions
# kind: same
# breaks:

import torch
from torch import nn

class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.drop = nn.Dropout(p=dropout)

    def forward(self, x: torch.Tensor):
        B, T, E = x.shape
        q = self.W_Q(x).reshape(B, T, self.h, E // self.h)
        k = self.W_K(x).reshape(B, T, self.h, E // self.h)
        v = self.W_V(x).reshape(B, T, self.h, E // self.h)
        pos = torch.arange(T, device=x.device)
        logits = torch.einsum('bihd,bjhd->bhij', q, k) / (E // self.h) ** 0.5
        logits = logits.masked_fill(pos[None, :] > pos[:, None], torch.finfo(logits.dtype).min)
        attention = logits.softmax(dim=3)
        out = torch.einsum('bhij,bjhd->bihd', self.drop(attention), v).reshape(B, T, E)
        return self.fc_out(out), attention
