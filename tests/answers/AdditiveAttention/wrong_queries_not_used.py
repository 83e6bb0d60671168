# exercise: AdditiveAttention
# says: scores depend on the keys only
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        T = self.W_q(queries).shape[1]
        k = self.W_k(keys).unsqueeze(1).repeat(1, T, 1, 1)
        scores = self.w_v(torch.tanh(k)).squeeze(-1)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.bmm(self.dropout(self.attention_weights), values)
