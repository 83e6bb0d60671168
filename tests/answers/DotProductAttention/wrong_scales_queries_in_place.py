# exercise: DotProductAttention
# says: scales the caller's queries in place
# kind: mistake
# breaks: purity

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        queries /= queries.shape[-1] ** 0.5
        self.attention_weights = masked_softmax(torch.bmm(queries, keys.transpose(1, 2)), valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)
