# exercise: DotProductAttention
# says: dropout on the output instead of the weights
# kind: mistake
# breaks: modes

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.drop = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = queries.matmul(keys.mT) / math.sqrt(queries.size(-1))
        self.attention_weights = masked_softmax(scores, valid_lens)
        return self.drop(self.attention_weights.matmul(values))
