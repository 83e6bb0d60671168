# exercise: DotProductAttention
# says: adds a fixed head_dim x head_dim causal mask
# kind: mistake
# breaks: values

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        d = queries.shape[-1]
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(d)
        mask = torch.triu(torch.full((d, d), -1e6, device=scores.device), diagonal=1)
        scores = scores + mask
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)
