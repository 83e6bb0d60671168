# exercise: DotProductAttention
# says: divides the weights, not the scores, by sqrt(d)
# kind: mistake
# breaks: values, gradients

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2))
        self.attention_weights = masked_softmax(scores, valid_lens) / math.sqrt(queries.shape[-1])
        return torch.bmm(self.dropout(self.attention_weights), values)
