# exercise: DotProductAttention
# says: normalises over the queries
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
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        A = torch.softmax(scores, dim=1)
        if valid_lens is not None:
            A = A * (masked_softmax(scores, valid_lens) > 0)
        self.attention_weights = A
        return torch.bmm(self.dropout(A), values)
