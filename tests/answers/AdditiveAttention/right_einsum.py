# exercise: AdditiveAttention
# says: broadcast, tanh, einsum with the vector of w_v
# kind: same
# breaks:

import torch
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    def __init__(self, key_size: int, query_size: int, num_hiddens: int, dropout: float) -> None:
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        q = torch.einsum('btq,hq->bth', queries, self.W_q.weight)
        k = torch.einsum('bsk,hk->bsh', keys, self.W_k.weight)
        h = torch.tanh(q[:, :, None, :] + k[:, None, :, :])
        scores = torch.einsum('btsh,h->bts', h, self.w_v.weight[0])
        self.attention_weights = masked_softmax(scores, valid_lens)
        return torch.einsum('bts,bsv->btv', self.dropout(self.attention_weights), values)
