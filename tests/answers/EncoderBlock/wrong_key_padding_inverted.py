# exercise: EncoderBlock
# says: key_padding_mask means ignore: passed inverted
# kind: mistake
# breaks: values, masking

import torch
from torch import nn
from grader.given import AddNorm, PositionWiseFFN

class EncoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.h = num_heads
        self.attention = nn.MultiheadAttention(num_hiddens, num_heads, dropout, bias=use_bias, batch_first=True)
        self.addnorm1, self.addnorm2 = AddNorm(norm_shape, dropout), AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, valid_lens):
        mask = None
        if valid_lens is not None:
            if valid_lens.dim() == 1:
                valid_lens = valid_lens[:, None].repeat(1, X.shape[1])
            mask = torch.arange(X.shape[1], device=X.device) < valid_lens.unsqueeze(-1)
            mask = mask.repeat_interleave(self.h, 0)
        Y = self.addnorm1(X, self.attention(X, X, X, attn_mask=mask, need_weights=False)[0])
        return self.addnorm2(Y, self.ffn(Y))
