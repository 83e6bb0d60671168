# exercise: DecoderBlock
# says: a preallocated buffer filled step by step
# kind: same
# breaks:

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.layer = i
        self.attention1 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.attention2 = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.addnorm3 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def remember(self, X, caches):
        """Write X behind the steps already stored; the room doubles when it is full."""
        b, t, d = X.shape
        if caches[self.layer] is None:
            caches[self.layer] = [X.new_zeros(b, max(4, t), d), 0]
        room, n = caches[self.layer]
        room = room.clone()
        while n + t > room.shape[1]:
            room = torch.cat((room, torch.zeros_like(room)), dim=1)
        room[:, n:n + t] = X
        caches[self.layer] = [room, n + t]
        return room, n + t

    def forward(self, X, state):
        enc, enc_lens, caches = state
        b, t, _ = X.shape
        if self.training:
            keys = X
            lens = 1 + torch.arange(t, device=X.device).repeat(b, 1)
        else:
            keys, n = self.remember(X, caches)
            lens = torch.full((b,), n, device=X.device)   # the unused room is masked
        Y = self.addnorm1(X, self.attention1(X, keys, keys, lens))
        Z = self.addnorm2(Y, self.attention2(Y, enc, enc, enc_lens))
        return self.addnorm3(Z, self.ffn(Z)), state
