# exercise: DotProductAttention
# says: scale taken from sequence length
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        scale = keys.shape[1] ** 0.5
        scores = torch.einsum('btd,bsd->bts', queries, keys) / scale
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.einsum('bts,bsv->btv', self.dropout(self.attention_weights), values)
