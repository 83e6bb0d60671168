# exercise: MultiHeadAttention
# says: loops over sequences, heads and queries
# kind: same
# breaks:

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    # slow but I can follow every index
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super(MultiHeadAttention, self).__init__()
        self.num_heads = num_heads
        self.size = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        Q, K, V = self.W_q(queries), self.W_k(keys), self.W_v(values)
        B, T, _ = Q.shape
        S = K.shape[1]
        all_weights, all_out = [], []
        for b in range(B):
            out_b = []
            for h in range(self.num_heads):
                cut = slice(h * self.size, (h + 1) * self.size)
                q, k, v = Q[b, :, cut], K[b, :, cut], V[b, :, cut]
                rows = []
                for t in range(T):
                    if valid_lens is None:
                        n = S
                    elif valid_lens.dim() == 1:
                        n = int(valid_lens[b])
                    else:
                        n = int(valid_lens[b, t])
                    s = k[:n] @ q[t] / self.size ** 0.5
                    rows.append(torch.cat([torch.softmax(s, 0), s.new_zeros(S - n)]))
                A = torch.stack(rows)
                all_weights.append(A)
                out_b.append(self.dropout(A) @ v)
            all_out.append(torch.cat(out_b, dim=1))
        self.attention_weights = torch.stack(all_weights)
        return self.W_o(torch.stack(all_out))
