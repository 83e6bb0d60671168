# exercise: DecoderBlock
# says: wraps nn.MultiheadAttention, its masks turned the right way
# kind: same
# breaks:

import torch
from torch import nn
from grader.given import AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i, self.num_heads = i, num_heads
        self.attention1 = nn.MultiheadAttention(num_hiddens, num_heads, dropout, bias=False, batch_first=True)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = nn.MultiheadAttention(num_hiddens, num_heads, dropout, bias=False, batch_first=True)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, cache = state
        T, S = X.shape[1], enc_outputs.shape[1]
        if self.training:
            kv = X
            hide = torch.ones(T, T, dtype=torch.bool, device=X.device).triu(diagonal=1)
        else:
            kv = X if cache[self.i] is None else torch.cat((cache[self.i], X), dim=1)
            cache[self.i] = kv
            hide = None
        X2, _ = self.attention1(X, kv, kv, attn_mask=hide, need_weights=False)
        Y = self.addnorm1(X, X2)
        hide = None
        if enc_valid_lens is not None:
            lens = enc_valid_lens
            if lens.dim() == 1:
                lens = lens[:, None].expand(-1, T)
            hide = torch.arange(S, device=X.device)[None, None] >= lens[:, :, None]      # True = ignored
            hide = hide.repeat_interleave(self.num_heads, dim=0)
        Y2, _ = self.attention2(Y, enc_outputs, enc_outputs, attn_mask=hide, need_weights=False)
        Z = self.addnorm2(Y, Y2)
        return self.addnorm3(Z, self.ffn(Z)), state
