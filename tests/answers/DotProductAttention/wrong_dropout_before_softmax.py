# exercise: DotProductAttention
# says: dropout on the scores, before softmax
# kind: mistake
# breaks: modes

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(self.dropout(scores), valid_lens)
        return torch.bmm(self.attention_weights, values)
