# exercise: DotProductAttention
# says: calls F.scaled_dot_product_attention
# kind: same
# breaks:

import torch
import torch.nn.functional as F
from torch import nn

class DotProductAttention(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.dropout_p = dropout

    def forward(self, queries, keys, values, valid_lens=None):
        B, T, d = queries.shape
        S = keys.shape[1]
        attn_mask = None
        if valid_lens is not None:
            lens = valid_lens.reshape(B, -1, 1)
            attn_mask = (torch.arange(S, device=queries.device) < lens).expand(B, T, S)   # True: attend
        # the fused call does not show the weights, so they are computed once more for looking at
        with torch.no_grad():
            scores = queries @ keys.transpose(1, 2) / d ** 0.5
            if attn_mask is not None:
                scores = scores.masked_fill(~attn_mask, float('-inf'))
            self.attention_weights = scores.softmax(-1)
        return F.scaled_dot_product_attention(
            queries, keys, values, attn_mask=attn_mask,
            dropout_p=self.dropout_p if self.training else 0.0)
