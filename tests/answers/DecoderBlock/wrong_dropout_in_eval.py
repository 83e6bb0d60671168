# exercise: DecoderBlock
# says: dropout passed to scaled_dot_product_attention without self.training: dropout in eval
# kind: mistake
# breaks: modes

import math
import torch
from torch import nn
import torch.nn.functional as F
from grader.given import AddNorm, PositionWiseFFN


class SelfMadeAttention(nn.Module):
    def __init__(self, kd, qd, vd, D, H, p):
        super().__init__()
        self.H, self.p = H, p
        self.W_q = nn.Linear(qd, D, bias=False)
        self.W_k = nn.Linear(kd, D, bias=False)
        self.W_v = nn.Linear(vd, D, bias=False)
        self.W_o = nn.Linear(D, D, bias=False)

    def heads(self, x):
        B, T, D = x.shape
        return x.reshape(B, T, self.H, D // self.H).permute(0, 2, 1, 3)

    def forward(self, q, kv, mask=None):
        Q, K, V = self.heads(self.W_q(q)), self.heads(self.W_k(kv)), self.heads(self.W_v(kv))
        y = F.scaled_dot_product_attention(Q, K, V, attn_mask=mask, dropout_p=self.p)
        return self.W_o(y.permute(0, 2, 1, 3).reshape(q.shape[0], q.shape[1], -1))


class DecoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, i):
        super().__init__()
        self.i = i
        self.attention1 = SelfMadeAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.attention2 = SelfMadeAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm3 = AddNorm(norm_shape, dropout)

    def forward(self, x, state):
        memory, lens, past = state
        if self.training:
            kv = x
            mask = torch.ones(x.shape[1], x.shape[1], device=x.device, dtype=torch.bool).tril()
        else:
            kv = x if past[self.i] is None else torch.cat((past[self.i], x), 1)
            past[self.i] = kv
            mask = None
        y = self.addnorm1(x, self.attention1(x, kv, mask))
        mmask = None
        if lens is not None:
            mmask = torch.arange(memory.shape[1], device=x.device) < lens.unsqueeze(-1)
            mmask = mmask[:, None, None, :] if lens.dim() == 1 else mmask[:, None]
        z = self.addnorm2(y, self.attention2(y, memory, mmask))
        return self.addnorm3(z, self.ffn(z)), state
