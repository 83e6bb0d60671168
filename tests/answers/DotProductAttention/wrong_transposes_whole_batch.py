# exercise: DotProductAttention
# says: transposes batch and keys instead of keys and features
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
        scores = torch.bmm(queries, keys.reshape(keys.shape[0], keys.shape[2], keys.shape[1]))
        self.attention_weights = masked_softmax(scores / math.sqrt(queries.shape[-1]), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)
