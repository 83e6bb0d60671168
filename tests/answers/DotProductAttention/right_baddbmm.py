# exercise: DotProductAttention
# says: scores by baddbmm with alpha, mask added as beta term
# kind: same
# breaks:

import torch
from torch import nn

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        B, T, d = queries.shape
        S = keys.shape[1]
        bias = queries.new_zeros(B, T, S)
        if valid_lens is not None:
            lens = valid_lens.reshape(B, -1, 1)
            bias = bias.masked_fill(torch.arange(S, device=queries.device) >= lens, float('-inf'))
        scores = torch.baddbmm(bias, queries, keys.transpose(1, 2), alpha=d ** -0.5)
        self.attention_weights = scores.softmax(-1)
        return self.dropout(self.attention_weights).bmm(values)
