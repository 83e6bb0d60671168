# exercise: MultiHeadAttention
# says: passes scaled_dot_product_attention a mask of what to ignore
# kind: mistake
# breaks: masking

import torch
from torch import nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads, self.dropout = num_heads, dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        (B, T, _), S, H = queries.shape, keys.shape[1], self.num_heads
        q = self.W_q(queries).reshape(B, T, H, -1).permute(0, 2, 1, 3)
        k = self.W_k(keys).reshape(B, S, H, -1).permute(0, 2, 1, 3)
        v = self.W_v(values).reshape(B, S, H, -1).permute(0, 2, 1, 3)
        padding = None
        if valid_lens is not None:
            padding = torch.arange(S, device=k.device) >= valid_lens.reshape(B, 1, -1, 1)
            padding = padding.expand(B, 1, T, S)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=padding,
                                             dropout_p=self.dropout if self.training else 0.)
        return self.W_o(out.permute(0, 2, 1, 3).reshape(B, T, -1))
