# exercise: DotProductAttention
# says: F.dropout without training flag (active in eval)
# kind: mistake
# breaks: modes

import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.p = dropout

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.bmm(queries, keys.permute(0, 2, 1)) / math.sqrt(keys.shape[-1])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(F.dropout(self.attention_weights, self.p), values)
