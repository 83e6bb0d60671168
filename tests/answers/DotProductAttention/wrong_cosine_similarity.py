# exercise: DotProductAttention
# says: scores by cosine similarity
# kind: different
# breaks: values, gradients

import torch
import torch.nn.functional as F
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        q = F.normalize(queries, dim=-1)
        k = F.normalize(keys, dim=-1)
        self.attention_weights = masked_softmax(torch.bmm(q, k.transpose(1, 2)), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)
