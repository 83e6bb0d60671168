# exercise: DotProductAttention
# says: attention_weights not stored
# kind: policy
# breaks: weights

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        weights = masked_softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, valid_lens)
        return self.dropout(weights) @ values
