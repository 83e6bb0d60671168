# exercise: DotProductAttention
# says: takes only lengths per sequence; per query it uses the first
# kind: mistake
# breaks: masking

import math
import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        if valid_lens is not None and valid_lens.dim() > 1:
            valid_lens = valid_lens[:, 0]
        scores = torch.bmm(queries, keys.transpose(1, 2)) / math.sqrt(queries.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)
