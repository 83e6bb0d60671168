# exercise: DotProductAttention
# says: keeps the scores, not the weights, in attention_weights
# kind: mistake
# breaks: weights

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        self.attention_weights = queries @ keys.transpose(1, 2) / queries.shape[-1] ** 0.5
        A = masked_softmax(self.attention_weights.clone(), valid_lens)
        return self.dropout(A) @ values
