# exercise: EncoderBlock
# says: encoder made causal
# kind: mistake
# breaks: values, masking

import torch, math
import torch.nn as nn
import torch.nn.functional as F
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class EncoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.attention = MultiHeadAttention(key_size=key_size, query_size=query_size, value_size=value_size, num_hiddens=num_hiddens, num_heads=num_heads, dropout=dropout, bias=use_bias)
        self.addnorm1, self.addnorm2 = AddNorm(norm_shape, dropout), AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, valid_lens):
        B, T, _ = X.shape
        causal = torch.arange(1, T + 1, device=X.device).repeat(B, 1)
        if valid_lens is not None:
            v = valid_lens if valid_lens.dim() == 2 else valid_lens.unsqueeze(1)
            causal = torch.min(causal, v)
        Y = self.addnorm1(X, self.attention(X, X, X, causal))
        return self.addnorm2(Y, self.ffn(Y))
