# exercise: AdditiveAttention
# says: joins query and key and multiplies by the joined matrix
# kind: same
# breaks:

import torch
import torch.nn.functional as F
from torch import nn
from grader.given import masked_softmax

class AdditiveAttention(nn.Module):
    """W_q q + W_k k is [W_q W_k] applied to the concatenation."""
    def __init__(self, key_size, query_size, num_hiddens, dropout):
        super().__init__()
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.w_v = nn.Linear(num_hiddens, 1, bias=False)
        self.p = dropout

    def forward(self, queries, keys, values, valid_lens=None):
        B, T, _ = queries.shape
        S = keys.shape[1]
        pairs = torch.cat([queries[:, :, None].expand(B, T, S, -1),
                           keys[:, None].expand(B, T, S, -1)], dim=-1)
        W = torch.cat([self.W_q.weight, self.W_k.weight], dim=1)
        scores = self.w_v(F.linear(pairs, W).tanh()).view(B, T, S)
        self.attention_weights = masked_softmax(scores, valid_lens)
        return F.dropout(self.attention_weights, self.p, self.training) @ values
