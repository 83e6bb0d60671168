# exercise: DotProductAttention
# says: multiplies by sqrt(d)
# kind: mistake
# breaks: values, gradients

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super(DotProductAttention, self).__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        d = queries.shape[-1]
        scores = queries @ keys.transpose(-2, -1) * math.sqrt(d)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return self.dropout(self.attention_weights) @ values
