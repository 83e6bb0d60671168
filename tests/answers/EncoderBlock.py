# %% right_all_in_one: all parts written in the file, fused qkv projection, Conv1d feed-forward
# kind: same

import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, width, heads, p, bias):
        super().__init__()
        self.heads, self.p = heads, p
        self.qkv = nn.Linear(width, 3 * width, bias=bias)
        self.W_o = nn.Linear(width, width, bias=bias)

    def forward(self, x, keep):
        n, t, w = x.shape
        q, k, v = self.qkv(x).view(n, t, 3, self.heads, w // self.heads).permute(2, 0, 3, 1, 4)
        a = q @ k.mT * (w // self.heads) ** -0.5
        if keep is not None:
            a = a + keep.unsqueeze(1).to(a.dtype).log()
        a = torch.dropout(a.softmax(-1), self.p, self.training)
        return self.W_o((a @ v).transpose(1, 2).reshape(n, t, w))


class AddNorm(nn.Module):
    def __init__(self, shape, p):
        super().__init__()
        self.ln, self.drop = nn.LayerNorm(shape), nn.Dropout(p)

    def forward(self, x, y):
        return self.ln(self.drop(y) + x)


class FFN(nn.Module):
    def __init__(self, i, h, o):
        super().__init__()
        self.dense1, self.dense2 = nn.Conv1d(i, h, 1), nn.Conv1d(h, o, 1)

    def forward(self, x):
        return self.dense2(self.dense1(x.mT).relu()).mT


class EncoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.attention = Attention(num_hiddens, num_heads, dropout, use_bias)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.ffn = FFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, dropout)

    def forward(self, X, valid_lens):
        keep = None
        if valid_lens is not None:
            lens = valid_lens.view(len(X), -1, 1)            # (B, 1, 1) or (B, T, 1)
            keep = torch.arange(X.shape[1], device=X.device).view(1, 1, -1) < lens
        Y = self.addnorm1(X, self.attention(X, keep))
        return self.addnorm2(Y, self.ffn(Y))


# %% right_book: the book's encoder block
# kind: same

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
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        return self.addnorm2(Y, self.ffn(Y))


# %% right_linear_per_head: one small Linear per head
# kind: same

import math
import torch
from torch import nn
from grader.given import AddNorm, PositionWiseFFN


class PerHead(nn.Module):
    def __init__(self, sizes, width, num_heads, p, bias):
        super().__init__()
        q, k, v = sizes
        small = lambda n: nn.ModuleList([nn.Linear(n, width // num_heads, bias=bias) for _ in range(num_heads)])
        self.W_q, self.W_k, self.W_v = small(q), small(k), small(v)
        self.W_o = nn.Linear(width, width, bias=bias)
        self.dropout = nn.Dropout(p)

    def forward(self, X, lens):
        results = []
        for to_q, to_k, to_v in zip(self.W_q, self.W_k, self.W_v):
            Q, K, V = to_q(X), to_k(X), to_v(X)
            scores = torch.bmm(Q, K.transpose(1, 2)) / math.sqrt(Q.shape[-1])
            if lens is not None:
                for b in range(len(X)):
                    row_lens = lens[b].expand(X.shape[1])
                    outside = torch.arange(X.shape[1], device=X.device) >= row_lens.unsqueeze(1)
                    scores[b] = scores[b].masked_fill(outside, float("-inf"))
            results.append(torch.bmm(self.dropout(scores.softmax(dim=-1)), V))
        return self.W_o(torch.cat(results, dim=-1))


class EncoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.attention = PerHead((query_size, key_size, value_size), num_hiddens, num_heads, dropout, use_bias)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, dropout)

    def forward(self, X, valid_lens):
        Y = self.addnorm1(X, self.attention(X, valid_lens))
        return self.addnorm2(Y, self.ffn(Y))


# %% right_per_sequence: one sequence at a time
# kind: same

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

    def single(self, x, n):
        y = self.addnorm1(x, self.attention(x, x, x, n))
        return self.addnorm2(y, self.ffn(y))

    def forward(self, X, valid_lens):
        rows = []
        for b in range(X.shape[0]):
            n = None if valid_lens is None else valid_lens[b:b + 1]
            rows.append(self.single(X[b:b + 1], n))
        return torch.cat(rows, dim=0)


# %% right_short_form: two lines and default argument
# kind: same

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

    def forward(self, X, valid_lens=None):
        for norm, layer in ((self.addnorm1, lambda x: self.attention(x, x, x, valid_lens)), (self.addnorm2, self.ffn)):
            X = norm(X, layer(X))
        return X


# %% right_wrapped_torch_attention: wraps nn.MultiheadAttention
# kind: same

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
            # here True means: keep away
            mask = torch.arange(X.shape[1], device=X.device) >= valid_lens.unsqueeze(-1)
            mask = mask.repeat_interleave(self.h, 0)
        Y = self.addnorm1(X, self.attention(X, X, X, attn_mask=mask, need_weights=False)[0])
        return self.addnorm2(Y, self.ffn(Y))


# %% wrong_addnorm_without_dropout: dropout not passed to the add & norms
# kind: mistake
# breaks: modes
# equals: encblock-addnorms-without-dropout

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class EncoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.attention = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout, use_bias)
        self.addnorm1 = AddNorm(norm_shape, 0)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, 0)

    def forward(self, X, valid_lens):
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        return self.addnorm2(Y, self.ffn(Y))


# %% wrong_attention_no_grad: attention under torch.no_grad
# kind: mistake
# breaks: gradients
# equals: encblock-attention-detached

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
        with torch.no_grad():
            context = self.attention(X, X, X, valid_lens)
        Y = self.addnorm1(X, context)
        return self.addnorm2(Y, self.ffn(Y))


# %% wrong_causal: encoder made causal
# kind: mistake
# breaks: values, masking
# equals: encblock-causal-and-lens

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


# %% wrong_extra_dropout: dropout on the block's output as well
# kind: mistake
# breaks: modes
# equals: encblock-output-dropped

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class EncoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.attention = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout, use_bias)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.out_drop = nn.Dropout(dropout)

    def forward(self, X, valid_lens):
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        return self.out_drop(self.addnorm2(Y, self.ffn(Y)))


# %% wrong_ffn_of_x: ffn applied to X
# kind: mistake
# breaks: values
# equals: encblock-network-sees-input

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
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        return self.addnorm2(Y, self.ffn(X))


# %% wrong_key_padding_inverted: key_padding_mask means ignore: passed inverted
# kind: mistake
# breaks: values, masking
# equals: encblock-mask-inverted

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


# %% wrong_lens_clamped_in_place: writes into the caller's valid_lens
# kind: mistake
# breaks: purity
# equals: encblock-lens-changed

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
        lens = None
        if valid_lens is not None:
            lens = valid_lens.clone()
            valid_lens -= 1          # index of the last valid step
        Y = self.addnorm1(X, self.attention(X, X, X, lens))
        return self.addnorm2(Y, self.ffn(Y))


# %% wrong_lens_not_passed: valid_lens not passed to the attention
# kind: mistake
# breaks: values, masking
# equals: encblock-lens-not-passed

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
        Y = self.addnorm1(X, self.attention(X, X, X, None))
        return self.addnorm2(Y, self.ffn(Y))


# %% wrong_lens_of_first: the first sequence's length used for all
# kind: mistake
# breaks: values, masking
# equals: encblock-lens-of-first

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
        if valid_lens is not None:
            valid_lens = valid_lens[:1].expand_as(valid_lens)
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        return self.addnorm2(Y, self.ffn(Y))


# %% wrong_mask_from_zeros: a mask guessed from values == 0
# kind: mistake
# breaks: values, masking
# equals: encblock-mask-from-zeros

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
        # padding steps are all zero, so the lengths can be read off X
        real = (X != 0).any(dim=-1)
        lens = real.sum(dim=1)
        Y = self.addnorm1(X, self.attention(X, X, X, lens))
        return self.addnorm2(Y, self.ffn(Y))


# %% wrong_no_first_addnorm: attention goes straight into the feed-forward
# kind: mistake
# breaks: values
# equals: encblock-no-first-addnorm

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
        Y = self.attention(X, X, X, valid_lens)
        Z = self.ffn(Y)
        return self.addnorm2(Y, Z)


# %% wrong_no_second_addnorm: returns the feed-forward without add & norm
# kind: mistake
# breaks: values
# equals: encblock-no-second-addnorm

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
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        return self.ffn(Y)


# %% wrong_norm_shared: one add & norm used twice
# kind: mistake
# breaks: values
# equals: encblock-one-norm-twice

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
        X = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        X = self.addnorm1(X, self.ffn(X))
        return X


# %% wrong_norms_exchanged: addnorm1 and addnorm2 exchanged
# kind: mistake
# breaks: values
# equals: encblock-norms-exchanged

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
        Y = self.addnorm2(X, self.attention(X, X, X, valid_lens))
        return self.addnorm1(Y, self.ffn(Y))


# %% wrong_order: feed-forward before attention
# kind: mistake
# breaks: values
# equals: encblock-network-first

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
        Y = self.addnorm1(X, self.ffn(X))
        return self.addnorm2(Y, self.attention(Y, Y, Y, valid_lens))


# %% wrong_pre_norm: pre-norm block
# kind: different
# breaks: values
# equals: encblock-pre-norm-without-dropout

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
        h = self.addnorm1.ln(X)
        X = X + self.attention(h, h, h, valid_lens)
        return X + self.ffn(self.addnorm2.ln(X))


# %% wrong_residual_in_place: attention added into X in place
# kind: mistake
# breaks: purity
# equals: nothing

import torch
from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class EncoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.attention = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout, use_bias)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.drop = nn.Dropout(dropout)

    def forward(self, X, valid_lens):
        copy = X.clone()
        X += self.drop(self.attention(copy, copy, copy, valid_lens))
        Y = self.addnorm1.ln(X.clone())
        return self.addnorm2(Y, self.ffn(Y))


# %% wrong_residual_x_twice: second residual from X
# kind: mistake
# breaks: values
# equals: encblock-second-residual-from-input

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
        att = self.attention(X, X, X, valid_lens)
        Y = self.addnorm1(X, att)
        return self.addnorm2(X, self.ffn(Y))


# %% wrong_use_bias_not_forwarded: use_bias not forwarded
# kind: mistake
# breaks: values
# equals: encblock-use-bias-not-passed

from torch import nn
from grader.given import MultiHeadAttention, AddNorm, PositionWiseFFN

class EncoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape,
                 ffn_num_input, ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.attention = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, dropout)

    def forward(self, X, valid_lens):
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        return self.addnorm2(Y, self.ffn(Y))


# %% wrong_zeroed_padding: padding steps of X set to zero, attention unmasked
# kind: mistake
# breaks: values, masking
# equals: encblock-padding-blanked

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


# %% wrong_ignores_bias: use_bias is not passed on to the attention
# kind: mistake
# breaks: purity, values
# equals: encblock-use-bias-not-passed

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class EncoderBlock(nn.Module):
    def __init__(
        self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input, ffn_num_hiddens,
        num_heads, dropout, use_bias=False,
    ):
        super().__init__()
        self.attention = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads, dropout)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, dropout)

    def forward(self, X, valid_lens):
        attended = self.attention(X, X, X, valid_lens)
        X = self.addnorm1(X, attended)
        return self.addnorm2(X, self.ffn(X))


# %% wrong_keyword_slip: the attention is called with valid_len, a name that it does not have
# kind: mistake
# breaks: shapes
# equals: nothing

import torch
import torch.nn as nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class EncoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.attention = MultiHeadAttention(key_size=key_size, query_size=query_size, value_size=value_size,
                                            num_hiddens=num_hiddens, num_heads=num_heads, dropout=dropout,
                                            bias=use_bias)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X, valid_lens):
        Y = self.attention(queries=X, keys=X, values=X, valid_len=valid_lens)
        Y = self.addnorm1(X, Y)
        return self.addnorm2(Y, self.ffn(Y))


# %% wrong_ffn_first: the position-wise network comes before the attention
# kind: mistake
# breaks: defaults, gradients, masking, modes, values
# equals: encblock-network-first

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class EncoderBlock(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, norm_shape, ffn_num_input,
                 ffn_num_hiddens, num_heads, dropout, use_bias=False):
        super().__init__()
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.attention = MultiHeadAttention(key_size, query_size, value_size, num_hiddens, num_heads,
                                            dropout, use_bias)
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)

    def forward(self, X, valid_lens):
        Y = self.addnorm1(X, self.ffn(X))
        Z = self.addnorm2(Y, self.attention(Y, Y, Y, valid_lens))
        return Z


# %% wrong_addnorm1_twice: addnorm1 after both sublayers
# kind: mistake
# breaks: defaults, gradients, masking, values
# equals: encblock-one-norm-twice

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class EncoderBlock(nn.Module):
    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float,
        use_bias: bool = False,
    ):
        super().__init__()
        self.attention = MultiHeadAttention(
            key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=use_bias
        )
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.addnorm2 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)

    def forward(self, X: torch.Tensor, valid_lens: torch.Tensor | None) -> torch.Tensor:
        # sublayer 1
        attn = self.attention(X, X, X, valid_lens)
        Y = self.addnorm1(X, attn)
        # sublayer 2
        fed = self.ffn(Y)
        Z = self.addnorm1(Y, fed)
        return Z


# %% wrong_heads_and_hiddens: num_heads and num_hiddens exchanged in the call of the attention's constructor
# kind: mistake
# breaks: purity, shapes, values
# equals: nothing

import torch
from torch import nn

from grader.given import AddNorm, MultiHeadAttention, PositionWiseFFN


class EncoderBlock(nn.Module):
    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        norm_shape: int | list[int],
        ffn_num_input: int,
        ffn_num_hiddens: int,
        num_heads: int,
        dropout: float,
        use_bias: bool = False,
    ):
        super().__init__()
        self.attention = MultiHeadAttention(
            key_size, query_size, value_size, num_heads, num_hiddens, dropout, use_bias
        )
        self.addnorm1 = AddNorm(norm_shape, dropout)
        self.ffn = PositionWiseFFN(ffn_num_input, ffn_num_hiddens, num_hiddens)
        self.addnorm2 = AddNorm(norm_shape, dropout)

    def forward(self, X: torch.Tensor, valid_lens: torch.Tensor | None) -> torch.Tensor:
        Y = self.addnorm1(X, self.attention(X, X, X, valid_lens))
        return self.addnorm2(Y, self.ffn(Y))
