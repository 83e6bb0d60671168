# exercise: EncoderBlock
# says: padding steps of X set to zero, attention unmasked
# kind: mistake
# breaks: values, masking

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN


class EncoderBlock(nn.Module):
    """Transformer encoder block."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 norm_shape, ffn_num_input, ffn_num_hiddens, num_heads,
                 dropout, use_bias=False, **kwargs):
        super(EncoderBlock, self).__init__(**kwargs)
        self.attention = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout,
            use_bias)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(
            ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, dropout)

    def forward(self, X, valid_lens):
        if valid_lens is not None:
            lens = valid_lens if valid_lens.dim() == 1 else valid_lens.max(dim=1).values
            real = torch.arange(X.shape[1], device=X.device)[None, :] < lens[:, None]
            X = X * real.unsqueeze(-1)
        Y = self.addnorm1(X, self.attention(X, X, X, None))
        return self.addnorm2(Y, self.ffn(Y))
