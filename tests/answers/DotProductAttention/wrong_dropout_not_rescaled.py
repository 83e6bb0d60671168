# exercise: DotProductAttention
# says: drops weights without dividing by 1 - p
# kind: mistake
# breaks: modes

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = dropout

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        weights = self.attention_weights
        if self.training:
            weights = weights * (torch.rand_like(weights) >= self.dropout)
        return torch.bmm(weights, values)
