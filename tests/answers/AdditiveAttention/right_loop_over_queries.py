# exercise: AdditiveAttention
# says: scores one query at a time
# kind: same
# breaks:

import torch
from torch import nn

class AdditiveAttention(nn.Module):
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        K = self.W_k(keys)                                     # (B, S, h)
        columns = torch.arange(keys.shape[1], device=keys.device)
        weights = []
        for t in range(queries.shape[1]):
            q = self.W_q(queries[:, t:t + 1])                  # (B, 1, h)
            s = self.w_v(torch.tanh(K + q)).squeeze(2)         # (B, S)
            if valid_lens is not None:
                n = valid_lens if valid_lens.dim() == 1 else valid_lens[:, t]
                s = s.masked_fill(columns >= n.unsqueeze(1), float('-inf'))
            weights.append(torch.softmax(s, dim=1))
        self.attention_weights = torch.stack(weights, dim=1)   # (B, T, S)
        return torch.bmm(self.dropout(self.attention_weights), values)
