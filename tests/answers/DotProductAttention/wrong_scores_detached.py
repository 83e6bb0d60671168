# exercise: DotProductAttention
# says: scores detached: output right, W_q and W_k get no gradient
# kind: mistake
# breaks: gradients

import torch
from torch import nn
from grader.given import masked_softmax

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        with torch.no_grad():
            scores = torch.matmul(queries, keys.transpose(-1, -2)) / (queries.size(-1) ** 0.5)
            self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.matmul(self.dropout(self.attention_weights), values)
