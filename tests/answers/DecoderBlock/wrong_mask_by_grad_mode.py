# exercise: DecoderBlock
# says: mask decided by grad mode, not self.training
# kind: policy
# breaks:
# later: grad-mode

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, X, state):
        enc_outputs, enc_valid_lens, cache = state
        kv = X if cache[self.i] is None else torch.cat((cache[self.i], X), dim=1)
        cache[self.i] = kv
        learning = torch.is_grad_enabled()
        if learning or kv.shape[1] == X.shape[1]:
            n = X.shape[1]
            mask_lens = torch.arange(1, n + 1, device=X.device).repeat(len(X), 1)
        else:
            mask_lens = None
        Y = self.addnorm1(X, self.attention1(X, kv, kv, mask_lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc_outputs, enc_outputs, enc_valid_lens))
        return self.addnorm3(Z, self.ffn(Z)), state
