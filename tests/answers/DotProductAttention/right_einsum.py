# exercise: DotProductAttention
# says: attention by einsum
# kind: same
# breaks:

import torch
import torch.nn.functional as F
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.p = dropout

    def forward(self, queries, keys, values, valid_lens=None):
        scores = torch.einsum('bqd,bkd->bqk', queries, keys) * queries.size(-1) ** -0.5
        self.attention_weights = masked_softmax(scores, valid_lens)
        w = F.dropout(self.attention_weights, self.p, training=self.training)
        return torch.einsum('bqk,bkv->bqv', w, values)
