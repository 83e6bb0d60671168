# %% right_book: the book's multi-head attention
# kind: same

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% right_conv1d: projections as Conv1d with kernel size 1
# kind: same

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Conv1d(query_size, num_hiddens, kernel_size=1, bias=bias)
        self.W_k = nn.Conv1d(key_size, num_hiddens, kernel_size=1, bias=bias)
        self.W_v = nn.Conv1d(value_size, num_hiddens, kernel_size=1, bias=bias)
        self.W_o = nn.Conv1d(num_hiddens, num_hiddens, kernel_size=1, bias=bias)

    @staticmethod
    def apply_conv(conv, x):
        return conv(x.transpose(1, 2)).transpose(1, 2)      # channels are the features

    def forward(self, queries, keys, values, valid_lens):
        q = transpose_qkv(self.apply_conv(self.W_q, queries), self.num_heads)
        k = transpose_qkv(self.apply_conv(self.W_k, keys), self.num_heads)
        v = transpose_qkv(self.apply_conv(self.W_v, values), self.num_heads)
        if valid_lens is not None:
            valid_lens = torch.repeat_interleave(valid_lens, self.num_heads, dim=0)
        out = transpose_output(self.attention(q, k, v, valid_lens), self.num_heads)
        return self.apply_conv(self.W_o, out)


# %% right_einsum: einsum from the projections to the output
# kind: same

import torch
from torch import nn, einsum
from grader.given import masked_softmax


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.H = num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        q = self.W_q(queries).unflatten(-1, (self.H, -1))      # b t h d
        k = self.W_k(keys).unflatten(-1, (self.H, -1))
        v = self.W_v(values).unflatten(-1, (self.H, -1))
        s = einsum('bthd,bshd->bhts', q, k) / q.shape[-1] ** 0.5
        lens = None if valid_lens is None else valid_lens.repeat_interleave(self.H, dim=0)
        self.attention_weights = masked_softmax(s.flatten(0, 1), lens)
        a = self.drop(self.attention_weights).unflatten(0, (-1, self.H))
        return self.W_o(einsum('bhts,bshd->bthd', a, v).flatten(2))


# %% right_fill_1e9: masked_fill with -1e9 (raises on half)
# kind: policy
# later: precision

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, -1e9)
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% right_four_axes: heads as a fourth axis, masked_fill with -inf
# kind: same

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% right_fused_inside: contract layers, multiplied in one product per call
# kind: same

import torch
import torch.nn.functional as F
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        if queries is keys and keys is values:       # self-attention: one big product
            weight = torch.cat([self.W_q.weight, self.W_k.weight, self.W_v.weight])
            bias = None
            if self.W_q.bias is not None:
                bias = torch.cat([self.W_q.bias, self.W_k.bias, self.W_v.bias])
            q, k, v = F.linear(queries, weight, bias).chunk(3, dim=-1)
        else:
            q, k, v = self.W_q(queries), self.W_k(keys), self.W_v(values)
        q, k, v = (transpose_qkv(x, self.num_heads) for x in (q, k, v))
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, 0)
        return self.W_o(transpose_output(self.attention(q, k, v, valid_lens), self.num_heads))


# %% right_fused_qkv: one qkv Linear where all sizes agree, separate ones otherwise
# kind: same

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.fused = key_size == query_size == value_size
        if self.fused:
            self.qkv = nn.Linear(query_size, 3 * num_hiddens, bias=bias)
        else:
            self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
            self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
            self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def project(self, queries, keys, values):
        if not self.fused:
            return self.W_q(queries), self.W_k(keys), self.W_v(values)
        if queries is keys and keys is values:
            return self.qkv(queries).chunk(3, dim=-1)
        q = self.qkv(queries).chunk(3, dim=-1)[0]
        k = self.qkv(keys).chunk(3, dim=-1)[1]
        v = self.qkv(values).chunk(3, dim=-1)[2]
        return q, k, v

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = (transpose_qkv(x, self.num_heads) for x in self.project(queries, keys, values))
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
        return self.W_o(transpose_output(self.attention(q, k, v, valid_lens), self.num_heads))


# %% right_in_proj_parameters: parameters in the layout of PyTorch's own layer: in_proj_weight or three matrices
# kind: same

import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.dropout = dropout
        D = num_hiddens
        if key_size == query_size == value_size:
            self.in_proj_weight = nn.Parameter(torch.empty(3 * D, query_size))
            for part in self.in_proj_weight.data.chunk(3):
                nn.init.xavier_uniform_(part)
        else:
            self.q_proj_weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(D, query_size)))
            self.k_proj_weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(D, key_size)))
            self.v_proj_weight = nn.Parameter(nn.init.xavier_uniform_(torch.empty(D, value_size)))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * D)) if bias else None
        self.out_proj = nn.Linear(D, D, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        if hasattr(self, 'in_proj_weight'):
            wq, wk, wv = self.in_proj_weight.chunk(3)
        else:
            wq, wk, wv = self.q_proj_weight, self.k_proj_weight, self.v_proj_weight
        bq, bk, bv = (None,) * 3 if self.in_proj_bias is None else self.in_proj_bias.chunk(3)
        q, k, v = F.linear(queries, wq, bq), F.linear(keys, wk, bk), F.linear(values, wv, bv)
        q, k, v = (x.unflatten(2, (self.num_heads, -1)).transpose(1, 2) for x in (q, k, v))
        scores = q @ k.transpose(2, 3) / q.shape[-1] ** 0.5
        if valid_lens is not None:
            lens = valid_lens.reshape(len(k), 1, -1, 1)
            scores = scores.masked_fill(torch.arange(k.shape[2], device=k.device) >= lens, float('-inf'))
        self.attention_weights = scores.softmax(-1)
        weights = F.dropout(self.attention_weights, self.dropout, self.training)
        return self.out_proj((weights @ v).transpose(1, 2).flatten(2))


# %% right_lazy_d2l_1x: lazy layers with the constructor of the 1.x edition
# kind: same

import torch
from torch import nn
from grader.given import DotProductAttention


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, num_hiddens, num_heads, dropout, bias=False, **kwargs):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_k = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_v = nn.LazyLinear(num_hiddens, bias=bias)
        self.W_o = nn.LazyLinear(num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = self.transpose_qkv(self.W_q(queries))
        keys = self.transpose_qkv(self.W_k(keys))
        values = self.transpose_qkv(self.W_v(values))
        if valid_lens is not None:
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = self.transpose_output(output)
        return self.W_o(output_concat)

    def transpose_qkv(self, X):
        X = X.reshape(X.shape[0], X.shape[1], self.num_heads, -1)
        X = X.permute(0, 2, 1, 3)
        return X.reshape(-1, X.shape[2], X.shape[3])

    def transpose_output(self, X):
        X = X.reshape(-1, self.num_heads, X.shape[1], X.shape[2])
        X = X.permute(0, 2, 1, 3)
        return X.reshape(X.shape[0], X.shape[1], -1)


# %% right_linear_per_head: one small Linear per head in a ModuleList
# kind: same

import torch
from torch import nn
from grader.given import DotProductAttention


class MultiHeadAttention(nn.Module):
    """Every head has projections of its own."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        d = num_hiddens // num_heads
        self.W_q = nn.ModuleList([nn.Linear(query_size, d, bias=bias) for _ in range(num_heads)])
        self.W_k = nn.ModuleList([nn.Linear(key_size, d, bias=bias) for _ in range(num_heads)])
        self.W_v = nn.ModuleList([nn.Linear(value_size, d, bias=bias) for _ in range(num_heads)])
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.attention = DotProductAttention(dropout)

    def forward(self, queries, keys, values, valid_lens):
        outputs, self.attention_weights = [], []
        for W_q, W_k, W_v in zip(self.W_q, self.W_k, self.W_v):
            outputs.append(self.attention(W_q(queries), W_k(keys), W_v(values), valid_lens))
            self.attention_weights.append(self.attention.attention_weights)
        return self.W_o(torch.cat(outputs, dim=-1))


# %% right_loop_over_heads: a loop over the heads
# kind: same

import torch
from torch import nn
from torch.nn import functional as F


def lengths_to_mask(lens, num_queries, num_keys):
    """True where a query may look."""
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(-1, num_queries)
    steps = torch.arange(num_keys, device=lens.device)
    return steps < lens.unsqueeze(-1)


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = num_hiddens // num_heads
        self.p = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def one_head(self, q, k, v, mask):
        s = q @ k.mT * self.head_dim ** -0.5
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
        a = s.softmax(-1)
        return F.dropout(a, self.p, self.training) @ v, a

    def forward(self, queries, keys, values, valid_lens):
        mask = None
        if valid_lens is not None:
            mask = lengths_to_mask(valid_lens, queries.shape[1], keys.shape[1])
        qs = self.W_q(queries).chunk(self.num_heads, dim=-1)
        ks = self.W_k(keys).chunk(self.num_heads, dim=-1)
        vs = self.W_v(values).chunk(self.num_heads, dim=-1)
        pairs = [self.one_head(q, k, v, mask) for q, k, v in zip(qs, ks, vs)]
        self.attention_weights = [a for _, a in pairs]
        return self.W_o(torch.cat([o for o, _ in pairs], dim=-1))


# %% right_nested_loops: loops over sequences, heads and queries
# kind: same

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    # slow but I can follow every index
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super(MultiHeadAttention, self).__init__()
        self.num_heads = num_heads
        self.size = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        Q, K, V = self.W_q(queries), self.W_k(keys), self.W_v(values)
        B, T, _ = Q.shape
        S = K.shape[1]
        all_weights, all_out = [], []
        for b in range(B):
            out_b = []
            for h in range(self.num_heads):
                cut = slice(h * self.size, (h + 1) * self.size)
                q, k, v = Q[b, :, cut], K[b, :, cut], V[b, :, cut]
                rows = []
                for t in range(T):
                    if valid_lens is None:
                        n = S
                    elif valid_lens.dim() == 1:
                        n = int(valid_lens[b])
                    else:
                        n = int(valid_lens[b, t])
                    s = k[:n] @ q[t] / self.size ** 0.5
                    rows.append(torch.cat([torch.softmax(s, 0), s.new_zeros(S - n)]))
                A = torch.stack(rows)
                all_weights.append(A)
                out_b.append(self.dropout(A) @ v)
            all_out.append(torch.cat(out_b, dim=1))
        self.attention_weights = torch.stack(all_weights)
        return self.W_o(torch.stack(all_out))


# %% right_own_helpers: its own mask, attention and head functions
# kind: same

import math
import torch
from torch import nn


def split_heads(t, n):
    return torch.stack(t.chunk(n, dim=-1), dim=1)


def join_heads(t):
    return torch.cat(list(t.unbind(dim=1)), dim=-1)


def additive_mask(lens, T, S, like):
    m = like.new_zeros(lens.shape[0], T, S)
    for b in range(lens.shape[0]):
        for t in range(T):
            n = lens[b] if lens.dim() == 1 else lens[b, t]
            m[b, t, int(n):] = -torch.inf
    return m.unsqueeze(1)


def attend(q, k, v, mask, drop):
    weights = q @ k.transpose(-2, -1) / math.sqrt(q.size(-1))
    if mask is not None:
        weights = weights + mask
    weights = weights.softmax(dim=-1)
    return drop(weights) @ v, weights


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.n = num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.drop = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = split_heads(self.W_q(queries), self.n), split_heads(self.W_k(keys), self.n), split_heads(self.W_v(values), self.n)
        mask = None if valid_lens is None else additive_mask(valid_lens, q.shape[2], k.shape[2], q)
        out, self.attention_weights = attend(q, k, v, mask, self.drop)
        return self.W_o(join_heads(out))


# %% right_renamed_projections: projections renamed consistently: query_proj, key_proj, value_proj, out_proj
# kind: same

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.query_proj = nn.Linear(query_size, num_hiddens, bias=bias)
        self.key_proj = nn.Linear(key_size, num_hiddens, bias=bias)
        self.value_proj = nn.Linear(value_size, num_hiddens, bias=bias)
        self.out_proj = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        q = transpose_qkv(self.query_proj(queries), self.num_heads)
        k = transpose_qkv(self.key_proj(keys), self.num_heads)
        v = transpose_qkv(self.value_proj(values), self.num_heads)
        lens = valid_lens
        if lens is not None:
            lens = lens.repeat_interleave(self.num_heads, dim=0)
        return self.out_proj(transpose_output(self.attention(q, k, v, lens), self.num_heads))


# %% right_scaled_dot_product_attention: F.scaled_dot_product_attention with a boolean mask
# kind: same

import torch
import torch.nn.functional as F
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.dropout = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self._last = None

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        b, n, d = x.shape
        return x.view(b, n, self.num_heads, d // self.num_heads).transpose(1, 2)

    @property
    def attention_weights(self):
        """Worked out only when somebody looks."""
        q, k, mask = self._last
        s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if mask is not None:
            s = s.masked_fill(~mask, float('-inf'))
        return s.softmax(-1)

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = self._heads(self.W_q(queries)), self._heads(self.W_k(keys)), self._heads(self.W_v(values))
        mask = None
        if valid_lens is not None:
            mask = torch.arange(k.shape[2], device=k.device) < valid_lens.reshape(k.shape[0], 1, -1, 1)
        self._last = (q.detach(), k.detach(), mask)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask,
                                           dropout_p=self.dropout * self.training)
        return self.W_o(y.transpose(1, 2).flatten(2))


# %% right_steps_on_cpu: counts the keys on the CPU whatever the device
# kind: policy
# later: device

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% right_three_axis_parameters: 3-D parameters: one matrix per head, applied by einsum
# kind: same

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    """W_q[h], W_k[h], W_v[h] are the matrices of head h, as in the paper."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        H, d = num_heads, num_hiddens // num_heads
        self.W_q = nn.Parameter(torch.randn(H, query_size, d) * query_size ** -0.5)
        self.W_k = nn.Parameter(torch.randn(H, key_size, d) * key_size ** -0.5)
        self.W_v = nn.Parameter(torch.randn(H, value_size, d) * value_size ** -0.5)
        self.W_o = nn.Parameter(torch.randn(H, d, num_hiddens) * num_hiddens ** -0.5)
        if bias:
            self.b_q = nn.Parameter(torch.zeros(H, d))
            self.b_k = nn.Parameter(torch.zeros(H, d))
            self.b_v = nn.Parameter(torch.zeros(H, d))
            self.b_o = nn.Parameter(torch.zeros(num_hiddens))
        self.bias = bias
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        q = torch.einsum('btx,hxd->bhtd', queries, self.W_q)
        k = torch.einsum('bsx,hxd->bhsd', keys, self.W_k)
        v = torch.einsum('bsx,hxd->bhsd', values, self.W_v)
        if self.bias:
            q, k, v = q + self.b_q[:, None], k + self.b_k[:, None], v + self.b_v[:, None]
        scores = torch.einsum('bhtd,bhsd->bhts', q, k) * q.shape[-1] ** -0.5
        if valid_lens is not None:
            keep = torch.arange(k.shape[2], device=k.device) < valid_lens.reshape(k.shape[0], 1, -1, 1)
            scores = scores.masked_fill(~keep, float('-inf'))
        self.attention_weights = scores.softmax(dim=-1)
        heads = torch.einsum('bhts,bhsd->bhtd', self.dropout(self.attention_weights), v)
        out = torch.einsum('bhtd,hdo->bto', heads, self.W_o)
        return out + self.b_o if self.bias else out


# %% right_w_o_by_head: adds up each head's share of W_o instead of concatenating
# kind: same

import torch
from torch import nn
from grader.given import DotProductAttention


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        Q, K, V = self.W_q(queries), self.W_k(keys), self.W_v(values)
        d = Q.shape[-1] // self.num_heads
        total, maps = 0, []
        for h in range(self.num_heads):
            part = slice(h * d, h * d + d)
            head = self.attention(Q[..., part], K[..., part], V[..., part], valid_lens)
            maps.append(self.attention.attention_weights)
            total = total + head @ self.W_o.weight[:, part].T
        self.attention_weights = maps
        return total if self.W_o.bias is None else total + self.W_o.bias


# %% right_weights_averaged: stores the weights averaged over the heads
# kind: policy

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn.mean(dim=1)
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% right_weights_not_kept: attention_weights not stored
# kind: policy

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% right_wraps_torch_layer: wraps nn.MultiheadAttention where the query size allows it
# kind: same

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """nn.MultiheadAttention wants query_size == num_hiddens; other sizes take the long way."""

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.wrapped = query_size == num_hiddens
        if self.wrapped:
            self.mha = nn.MultiheadAttention(num_hiddens, num_heads, dropout=dropout, bias=bias,
                                             kdim=key_size, vdim=value_size, batch_first=True)
        else:
            self.attention = DotProductAttention(dropout)
            self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
            self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
            self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
            self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        if not self.wrapped:
            q = transpose_qkv(self.W_q(queries), self.num_heads)
            k = transpose_qkv(self.W_k(keys), self.num_heads)
            v = transpose_qkv(self.W_v(values), self.num_heads)
            if valid_lens is not None:
                valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
            out = self.attention(q, k, v, valid_lens)
            self.attention_weights = self.attention.attention_weights
            return self.W_o(transpose_output(out, self.num_heads))
        B, T, S = queries.shape[0], queries.shape[1], keys.shape[1]
        ignore = None
        if valid_lens is not None:
            ignore = torch.arange(S, device=keys.device) >= valid_lens.reshape(B, -1, 1)
            ignore = ignore.expand(B, T, S).repeat_interleave(self.num_heads, dim=0)    # True: do not look
        out, weights = self.mha(queries, keys, values, attn_mask=ignore,
                                need_weights=True, average_attn_weights=False)
        if self.training and self.mha.dropout > 0:
            with torch.no_grad():        # the layer hands out dropped weights; look again without dropout
                self.mha.eval()
                _, weights = self.mha(queries, keys, values, attn_mask=ignore,
                                      need_weights=True, average_attn_weights=False)
                self.mha.train()
        self.attention_weights = weights
        return out


# %% wrong_all_through_w_q: W_q used for keys and values
# kind: mistake
# breaks: values, gradients
# equals: mha-keys-and-values-through-wq

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_q(keys), self.num_heads)
        values = transpose_qkv(self.W_q(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_always_causal: always hides later positions
# kind: mistake
# breaks: values
# equals: mha-always-causal

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        causal = torch.ones(T, S, dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~causal, -1e9)
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_batch_and_heads_mixed: splits the heads with the batch axis in the wrong place
# kind: mistake
# breaks: values, gradients
# equals: nothing

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.permute(2, 1, 0, 3).reshape(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_bias_always_off: bias argument ignored, bias always off
# kind: mistake
# breaks: values
# equals: mha-bias-always-off

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=False)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=False)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=False)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=False)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_bias_always_on: bias argument ignored, bias always on
# kind: different
# breaks: values, gradients
# equals: mha-bias-always-on

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens)
        self.W_k = nn.Linear(key_size, num_hiddens)
        self.W_v = nn.Linear(value_size, num_hiddens)
        self.W_o = nn.Linear(num_hiddens, num_hiddens)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_capped_scores: tanh of the scores before softmax (logit capping)
# kind: different
# breaks: values, gradients
# equals: nothing

import torch
from torch import nn
from torch.nn import functional as F


def lengths_to_mask(lens, num_queries, num_keys):
    """True where a query may look."""
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(-1, num_queries)
    steps = torch.arange(num_keys, device=lens.device)
    return steps < lens.unsqueeze(-1)


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = num_hiddens // num_heads
        self.p = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def one_head(self, q, k, v, mask):
        s = q @ k.mT * self.head_dim ** -0.5
        s = 5 * torch.tanh(s / 5)
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
        a = s.softmax(-1)
        return F.dropout(a, self.p, self.training) @ v, a

    def forward(self, queries, keys, values, valid_lens):
        mask = None
        if valid_lens is not None:
            mask = lengths_to_mask(valid_lens, queries.shape[1], keys.shape[1])
        qs = self.W_q(queries).chunk(self.num_heads, dim=-1)
        ks = self.W_k(keys).chunk(self.num_heads, dim=-1)
        vs = self.W_v(values).chunk(self.num_heads, dim=-1)
        pairs = [self.one_head(q, k, v, mask) for q, k, v in zip(qs, ks, vs)]
        self.attention_weights = [a for _, a in pairs]
        return self.W_o(torch.cat([o for o, _ in pairs], dim=-1))


# %% wrong_dropout_after_w_o: dropout also on the output of W_o
# kind: different
# breaks: modes
# equals: mha-dropout-on-result-too

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.dropout(self.W_o(x))


# %% wrong_dropout_in_eval_too: F.dropout without training flag (active in eval)
# kind: mistake
# breaks: modes
# equals: mha-dropout-in-evaluation

import torch
from torch import nn
from torch.nn import functional as F


def lengths_to_mask(lens, num_queries, num_keys):
    """True where a query may look."""
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(-1, num_queries)
    steps = torch.arange(num_keys, device=lens.device)
    return steps < lens.unsqueeze(-1)


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = num_hiddens // num_heads
        self.p = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def one_head(self, q, k, v, mask):
        s = q @ k.mT * self.head_dim ** -0.5
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
        a = s.softmax(-1)
        return F.dropout(a, self.p) @ v, a

    def forward(self, queries, keys, values, valid_lens):
        mask = None
        if valid_lens is not None:
            mask = lengths_to_mask(valid_lens, queries.shape[1], keys.shape[1])
        qs = self.W_q(queries).chunk(self.num_heads, dim=-1)
        ks = self.W_k(keys).chunk(self.num_heads, dim=-1)
        vs = self.W_v(values).chunk(self.num_heads, dim=-1)
        pairs = [self.one_head(q, k, v, mask) for q, k, v in zip(qs, ks, vs)]
        self.attention_weights = [a for _, a in pairs]
        return self.W_o(torch.cat([o for o, _ in pairs], dim=-1))


# %% wrong_dropout_not_passed: the attention is made with dropout 0 whatever was asked
# kind: mistake
# breaks: modes
# equals: mha-no-dropout

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(0.0)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_dropout_on_heads_output: dropout on the joined heads instead of the weights
# kind: mistake
# breaks: modes
# equals: mha-dropout-on-heads

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(attn, v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(self.dropout(x))


# %% wrong_dropout_on_values: dropout on the values instead of the weights
# kind: mistake
# breaks: modes
# equals: mha-dropout-on-values

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(attn, self.dropout(v))
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_fills_zero: fills masked scores with 0
# kind: mistake
# breaks: masking
# equals: mha-masked-with-zero

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, 0.)
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_first_head_masked_only: masks the first head only
# kind: mistake
# breaks: masking
# equals: mha-lens-first-head-only

import torch
from torch import nn
from torch.nn import functional as F


def lengths_to_mask(lens, num_queries, num_keys):
    """True where a query may look."""
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(-1, num_queries)
    steps = torch.arange(num_keys, device=lens.device)
    return steps < lens.unsqueeze(-1)


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = num_hiddens // num_heads
        self.p = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def one_head(self, q, k, v, mask):
        s = q @ k.mT * self.head_dim ** -0.5
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
        a = s.softmax(-1)
        return F.dropout(a, self.p, self.training) @ v, a

    def forward(self, queries, keys, values, valid_lens):
        mask = None
        if valid_lens is not None:
            mask = lengths_to_mask(valid_lens, queries.shape[1], keys.shape[1])
        qs = self.W_q(queries).chunk(self.num_heads, dim=-1)
        ks = self.W_k(keys).chunk(self.num_heads, dim=-1)
        vs = self.W_v(values).chunk(self.num_heads, dim=-1)
        pairs = []
        for q, k, v in zip(qs, ks, vs):
            pairs.append(self.one_head(q, k, v, mask))
            mask = None
        self.attention_weights = [a for _, a in pairs]
        return self.W_o(torch.cat([o for o, _ in pairs], dim=-1))


# %% wrong_heads_averaged: averages the heads and repeats the average
# kind: mistake
# breaks: values, gradients
# equals: mha-heads-averaged

import torch
from torch import nn
from torch.nn import functional as F


def lengths_to_mask(lens, num_queries, num_keys):
    """True where a query may look."""
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(-1, num_queries)
    steps = torch.arange(num_keys, device=lens.device)
    return steps < lens.unsqueeze(-1)


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = num_hiddens // num_heads
        self.p = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def one_head(self, q, k, v, mask):
        s = q @ k.mT * self.head_dim ** -0.5
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
        a = s.softmax(-1)
        return F.dropout(a, self.p, self.training) @ v, a

    def forward(self, queries, keys, values, valid_lens):
        mask = None
        if valid_lens is not None:
            mask = lengths_to_mask(valid_lens, queries.shape[1], keys.shape[1])
        qs = self.W_q(queries).chunk(self.num_heads, dim=-1)
        ks = self.W_k(keys).chunk(self.num_heads, dim=-1)
        vs = self.W_v(values).chunk(self.num_heads, dim=-1)
        pairs = [self.one_head(q, k, v, mask) for q, k, v in zip(qs, ks, vs)]
        self.attention_weights = [a for _, a in pairs]
        return self.W_o(sum(o for o, _ in pairs).div(self.num_heads).repeat(1, 1, self.num_heads))


# %% wrong_heads_by_reshape: splits the heads by reshape to (B, H, T, d) without transposing
# kind: mistake
# breaks: values, gradients
# equals: mha-heads-by-view

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, self.h, T, self.d_k)   # (B, H, T, d)
        k = self.W_k(keys).view(B, self.h, S, self.d_k)      # (B, H, S, d)
        v = self.W_v(values).view(B, self.h, S, self.d_k)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_heads_interleaved: features split as (d, H) instead of (H, d)
# kind: different
# breaks: values, gradients
# equals: mha-heads-interleaved

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.d_k, self.h).permute(0, 3, 1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.d_k, self.h).permute(0, 3, 1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.d_k, self.h).permute(0, 3, 1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.permute(0, 2, 3, 1).reshape(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_heads_joined_backwards: concatenates the heads in reverse order
# kind: different
# breaks: values, gradients
# equals: mha-heads-joined-backwards

import torch
from torch import nn
from torch.nn import functional as F


def lengths_to_mask(lens, num_queries, num_keys):
    """True where a query may look."""
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(-1, num_queries)
    steps = torch.arange(num_keys, device=lens.device)
    return steps < lens.unsqueeze(-1)


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = num_hiddens // num_heads
        self.p = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def one_head(self, q, k, v, mask):
        s = q @ k.mT * self.head_dim ** -0.5
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
        a = s.softmax(-1)
        return F.dropout(a, self.p, self.training) @ v, a

    def forward(self, queries, keys, values, valid_lens):
        mask = None
        if valid_lens is not None:
            mask = lengths_to_mask(valid_lens, queries.shape[1], keys.shape[1])
        qs = self.W_q(queries).chunk(self.num_heads, dim=-1)
        ks = self.W_k(keys).chunk(self.num_heads, dim=-1)
        vs = self.W_v(values).chunk(self.num_heads, dim=-1)
        pairs = [self.one_head(q, k, v, mask) for q, k, v in zip(qs, ks, vs)]
        self.attention_weights = [a for _, a in pairs]
        return self.W_o(torch.cat([o for o, _ in reversed(pairs)], dim=-1))


# %% wrong_heads_share_first_slice: every head reads the first slice of the queries
# kind: mistake
# breaks: values, gradients
# equals: mha-heads-share-query-slice

import torch
from torch import nn
from torch.nn import functional as F


def lengths_to_mask(lens, num_queries, num_keys):
    """True where a query may look."""
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(-1, num_queries)
    steps = torch.arange(num_keys, device=lens.device)
    return steps < lens.unsqueeze(-1)


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = num_hiddens // num_heads
        self.p = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def one_head(self, q, k, v, mask):
        s = q @ k.mT * self.head_dim ** -0.5
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
        a = s.softmax(-1)
        return F.dropout(a, self.p, self.training) @ v, a

    def forward(self, queries, keys, values, valid_lens):
        mask = None
        if valid_lens is not None:
            mask = lengths_to_mask(valid_lens, queries.shape[1], keys.shape[1])
        qs = self.W_q(queries).chunk(self.num_heads, dim=-1)
        ks = self.W_k(keys).chunk(self.num_heads, dim=-1)
        vs = self.W_v(values).chunk(self.num_heads, dim=-1)
        pairs = [self.one_head(q, k, v, mask) for q, k, v in zip([qs[0]] * self.num_heads, ks, vs)]
        self.attention_weights = [a for _, a in pairs]
        return self.W_o(torch.cat([o for o, _ in pairs], dim=-1))


# %% wrong_keeps_dropped_weights: stores the dropped-out weights
# kind: policy
# breaks: weights
# equals: mha-keeps-dropped-weights

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        attn = self.dropout(attn)
        self.attention_weights = attn
        x = torch.matmul(attn, v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_keys_detached: detaches the projected keys
# kind: mistake
# breaks: gradients
# equals: mha-keys-cut-off

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys).detach(), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_keys_pooled: passes the projected keys, not the values, to W_v
# kind: mistake
# breaks: values, gradients
# equals: nothing

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(keys), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_keys_through_w_q: keys go through W_q, values through W_v
# kind: mistake
# breaks: values, gradients
# equals: mha-keys-through-wq

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_q(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_keys_through_w_v: keys go through W_v
# kind: mistake
# breaks: values, gradients
# equals: mha-keys-through-wv

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_v(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_layer_norm_inside: layer normalisation on the output
# kind: different
# breaks: values, gradients
# equals: mha-normalised-inside

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        out = self.W_o(output_concat)
        return nn.functional.layer_norm(out, out.shape[-1:])


# %% wrong_lens_as_additive_numbers: adds the 0/1 padding mask to the scores instead of filling them
# kind: mistake
# breaks: masking
# equals: mha-mask-added-as-numbers

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores - (~mask).to(scores.dtype)
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_lens_changed_in_place: repeats into the caller's lengths in place
# kind: mistake
# breaks: purity
# equals: mha-lens-overwritten

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            valid_lens -= 1                      # index of the last valid key
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) <= lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_lens_not_passed: valid_lens not passed to the attention
# kind: mistake
# breaks: masking
# equals: mha-lens-not-passed

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q, self.W_k, self.W_v = (nn.Linear(n, num_hiddens, bias=bias) for n in (query_size, key_size, value_size))
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = (transpose_qkv(W(x), self.num_heads)
                   for W, x in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values)))
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
        return self.W_o(transpose_output(self.attention(q, k, v), self.num_heads))


# %% wrong_lens_not_repeated: valid_lens not repeated for the heads
# kind: mistake
# breaks: masking
# equals: mha-lens-not-repeated

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_lens_tiled: valid_lens tiled with repeat
# kind: mistake
# breaks: masking
# equals: mha-lens-tiled

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            reps = (self.num_heads,) + (1,) * (valid_lens.dim() - 1)
            valid_lens = valid_lens.repeat(*reps)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_mask_guessed_from_zeros: a mask guessed from keys that are all zero, valid_lens never read
# kind: mistake
# breaks: masking
# equals: nothing

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            mask = (keys != 0).any(dim=-1).view(B, 1, 1, S)
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_masked_after_softmax: zeroes masked weights after softmax without renormalising
# kind: mistake
# breaks: masking
# equals: mha-masked-after-softmax

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
        attn = F.softmax(scores, dim=-1)
        if valid_lens is not None:
            attn = attn * mask
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_merged_without_transposing: merges the heads by reshape without transposing back
# kind: mistake
# breaks: values, gradients
# equals: mha-merge-by-view

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.reshape(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_misspelt_name: misspelt name (vaild_len) -> NameError
# kind: mistake
# breaks: values
# equals: mha-unknown-name

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if vaild_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(vaild_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_no_dropout: dropout never applied
# kind: mistake
# breaks: modes
# equals: mha-no-dropout

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(attn, v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_no_grad: forward wrapped in torch.no_grad
# kind: mistake
# breaks: gradients
# equals: mha-no-grad

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    @torch.no_grad()
    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_no_scaling: no scaling
# kind: mistake
# breaks: values, gradients
# equals: mha-no-scaling

import torch
from torch import nn
from torch.nn import functional as F


def lengths_to_mask(lens, num_queries, num_keys):
    """True where a query may look."""
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(-1, num_queries)
    steps = torch.arange(num_keys, device=lens.device)
    return steps < lens.unsqueeze(-1)


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = num_hiddens // num_heads
        self.p = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def one_head(self, q, k, v, mask):
        s = q @ k.mT
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
        a = s.softmax(-1)
        return F.dropout(a, self.p, self.training) @ v, a

    def forward(self, queries, keys, values, valid_lens):
        mask = None
        if valid_lens is not None:
            mask = lengths_to_mask(valid_lens, queries.shape[1], keys.shape[1])
        qs = self.W_q(queries).chunk(self.num_heads, dim=-1)
        ks = self.W_k(keys).chunk(self.num_heads, dim=-1)
        vs = self.W_v(values).chunk(self.num_heads, dim=-1)
        pairs = [self.one_head(q, k, v, mask) for q, k, v in zip(qs, ks, vs)]
        self.attention_weights = [a for _, a in pairs]
        return self.W_o(torch.cat([o for o, _ in pairs], dim=-1))


# %% wrong_no_w_o: returns the joined heads without W_o
# kind: mistake
# breaks: values, gradients
# equals: mha-no-output-layer

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return output_concat


# %% wrong_q_and_k_swapped: q and k arguments swapped into the attention
# kind: mistake
# breaks: values, gradients
# equals: mha-queries-and-keys-change-roles

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(keys, queries, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_queries_through_w_k: queries go through W_k, W_q is never used
# kind: mistake
# breaks: values, gradients
# equals: mha-queries-through-wk

import torch
from torch import nn
from torch.nn import functional as F


def lengths_to_mask(lens, num_queries, num_keys):
    """True where a query may look."""
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(-1, num_queries)
    steps = torch.arange(num_keys, device=lens.device)
    return steps < lens.unsqueeze(-1)


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = num_hiddens // num_heads
        self.p = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def one_head(self, q, k, v, mask):
        s = q @ k.mT * self.head_dim ** -0.5
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
        a = s.softmax(-1)
        return F.dropout(a, self.p, self.training) @ v, a

    def forward(self, queries, keys, values, valid_lens):
        mask = None
        if valid_lens is not None:
            mask = lengths_to_mask(valid_lens, queries.shape[1], keys.shape[1])
        qs = self.W_k(queries).chunk(self.num_heads, dim=-1)
        ks = self.W_k(keys).chunk(self.num_heads, dim=-1)
        vs = self.W_v(values).chunk(self.num_heads, dim=-1)
        pairs = [self.one_head(q, k, v, mask) for q, k, v in zip(qs, ks, vs)]
        self.attention_weights = [a for _, a in pairs]
        return self.W_o(torch.cat([o for o, _ in pairs], dim=-1))


# %% wrong_relu_projections: ReLU on the projected queries, keys and values
# kind: mistake
# breaks: values, gradients
# equals: mha-relu-on-projections

import torch
from torch import nn
from torch.nn import functional as F


def lengths_to_mask(lens, num_queries, num_keys):
    """True where a query may look."""
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(-1, num_queries)
    steps = torch.arange(num_keys, device=lens.device)
    return steps < lens.unsqueeze(-1)


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = num_hiddens // num_heads
        self.p = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def one_head(self, q, k, v, mask):
        s = q @ k.mT * self.head_dim ** -0.5
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
        a = s.softmax(-1)
        return F.dropout(a, self.p, self.training) @ v, a

    def forward(self, queries, keys, values, valid_lens):
        mask = None
        if valid_lens is not None:
            mask = lengths_to_mask(valid_lens, queries.shape[1], keys.shape[1])
        qs = F.relu(self.W_q(queries)).chunk(self.num_heads, dim=-1)
        ks = F.relu(self.W_k(keys)).chunk(self.num_heads, dim=-1)
        vs = F.relu(self.W_v(values)).chunk(self.num_heads, dim=-1)
        pairs = [self.one_head(q, k, v, mask) for q, k, v in zip(qs, ks, vs)]
        self.attention_weights = [a for _, a in pairs]
        return self.W_o(torch.cat([o for o, _ in pairs], dim=-1))


# %% wrong_repeat_without_dim: repeat_interleave without dim=0
# kind: mistake
# breaks: masking
# equals: mha-lens-repeated-on-all-axes

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, self.num_heads)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_residual_inside: residual added inside
# kind: different
# breaks: values, gradients
# equals: mha-residual-where-it-fits

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        residual = queries
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        out = self.W_o(x)
        if residual.shape == out.shape:
            out = out + residual
        return out


# %% wrong_returns_pair: returns (output, weights) tuple
# kind: different
# breaks: shapes
# equals: mha-returns-pair

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x), attn


# %% wrong_scale_d_model: scales by the root of num_hiddens instead of the head size
# kind: mistake
# breaks: values, gradients
# equals: mha-scaled-by-all-features

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k * self.h)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_scale_key_length: scales by the root of the number of keys
# kind: mistake
# breaks: values, gradients
# equals: mha-scaled-by-number-of-keys

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(k.size(-2))
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_scaled_twice: scales the queries although the attention scales too
# kind: mistake
# breaks: values, gradients
# equals: mha-scaled-twice

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        queries = queries / queries.shape[-1] ** 0.5
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_scores_detached: scores detached: W_q and W_k get no gradient
# kind: mistake
# breaks: gradients
# equals: mha-weights-cut-off

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores.data, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_sdpa_dropout_in_eval: dropout_p passed to scaled_dot_product_attention without self.training
# kind: mistake
# breaks: modes
# equals: mha-dropout-in-evaluation

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

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = self.split(self.W_q(queries)), self.split(self.W_k(keys)), self.split(self.W_v(values))
        mask = None
        if valid_lens is not None:
            mask = torch.arange(k.shape[2], device=k.device) < valid_lens.reshape(len(k), 1, -1, 1)
        with torch.no_grad():
            s = q @ k.mT / q.shape[-1] ** 0.5
            self.attention_weights = (s if mask is None else s.masked_fill(~mask, -torch.inf)).softmax(-1)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=self.dropout)
        return self.W_o(out.transpose(1, 2).flatten(2))


# %% wrong_sdpa_mask_inverted: passes scaled_dot_product_attention a mask of what to ignore
# kind: mistake
# breaks: masking
# equals: mha-mask-inverted

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


# %% wrong_self_attention_only: projects the queries three times: keys and values are never read
# kind: mistake
# breaks: values, gradients
# equals: mha-only-the-queries-are-read

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False, **kwargs):
        super().__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        X = queries
        Q, K, V = [transpose_qkv(W(X), self.num_heads) for W in (self.W_q, self.W_k, self.W_v)]
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(self.num_heads, dim=0)
        return self.W_o(transpose_output(self.attention(Q, K, V, valid_lens), self.num_heads))


# %% wrong_single_head: ignores num_heads: one head over all features
# kind: mistake
# breaks: values, gradients
# equals: mha-single-head

import torch
from torch import nn
from grader.given import DotProductAttention

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        out = self.attention(self.W_q(queries), self.W_k(keys), self.W_v(values), valid_lens)
        return self.W_o(out)


# %% wrong_sizes_exchanged: key_size and query_size exchanged in the constructor
# kind: mistake
# breaks: values
# equals: mha-sizes-exchanged

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_softmax_over_heads: softmax over the heads
# kind: mistake
# breaks: values, gradients
# equals: mha-softmax-over-heads

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, -1e6)
        attn = F.softmax(scores, dim=1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_softmax_over_queries: softmax over the queries
# kind: mistake
# breaks: values, gradients
# equals: mha-softmax-over-queries

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, -1e6)
        attn = F.softmax(scores, dim=-2)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_square_projections: all projections num_hiddens -> num_hiddens
# kind: mistake
# breaks: values
# equals: mha-square-projections

import torch
from torch import nn
from torch.nn import functional as F


def lengths_to_mask(lens, num_queries, num_keys):
    """True where a query may look."""
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(-1, num_queries)
    steps = torch.arange(num_keys, device=lens.device)
    return steps < lens.unsqueeze(-1)


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = num_hiddens // num_heads
        self.p = dropout
        self.W_q = nn.Linear(num_hiddens, num_hiddens, bias)
        self.W_k = nn.Linear(num_hiddens, num_hiddens, bias)
        self.W_v = nn.Linear(num_hiddens, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def one_head(self, q, k, v, mask):
        s = q @ k.mT * self.head_dim ** -0.5
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
        a = s.softmax(-1)
        return F.dropout(a, self.p, self.training) @ v, a

    def forward(self, queries, keys, values, valid_lens):
        mask = None
        if valid_lens is not None:
            mask = lengths_to_mask(valid_lens, queries.shape[1], keys.shape[1])
        qs = self.W_q(queries).chunk(self.num_heads, dim=-1)
        ks = self.W_k(keys).chunk(self.num_heads, dim=-1)
        vs = self.W_v(values).chunk(self.num_heads, dim=-1)
        pairs = [self.one_head(q, k, v, mask) for q, k, v in zip(qs, ks, vs)]
        self.attention_weights = [a for _, a in pairs]
        return self.W_o(torch.cat([o for o, _ in pairs], dim=-1))


# %% wrong_values_through_w_k: W_k used for values
# kind: mistake
# breaks: values, gradients
# equals: mha-values-through-wk

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_k(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_values_through_w_q: values go through W_q
# kind: mistake
# breaks: values, gradients
# equals: mha-values-through-wq

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_q(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        return self.W_o(output_concat)


# %% wrong_w_o_bias_missing: bias for the projections in, none for W_o
# kind: mistake
# breaks: values
# equals: mha-output-bias-missing

import math
import torch
import torch.nn as nn
import torch.nn.functional as F

class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        assert num_hiddens % num_heads == 0
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)   # (B, H, T, d)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)      # (B, H, S, d)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(self.d_k)  # (B, H, T, S)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(mask == 0, float('-inf'))
        attn = F.softmax(scores, dim=-1)
        self.attention_weights = attn
        x = torch.matmul(self.dropout(attn), v)
        x = x.transpose(1, 2).contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_w_o_made_in_forward: W_o built inside forward (fresh random weights each call)
# kind: mistake
# breaks: values, gradients
# equals: mha-output-layer-made-per-call

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.num_hiddens = num_hiddens
        self.bias = bias

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        self.W_o = nn.Linear(self.num_hiddens, self.num_hiddens, bias=self.bias)
        return self.W_o(output_concat)


# %% wrong_w_o_twice: applies W_o to every head output and once more to the result
# kind: mistake
# breaks: values, gradients
# equals: mha-output-layer-twice

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    """Multi-head attention."""
    def __init__(self, key_size, query_size, value_size, num_hiddens,
                 num_heads, dropout, bias=False, **kwargs):
        super(MultiHeadAttention, self).__init__(**kwargs)
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            # On axis 0, copy the first item (scalar or vector) num_heads times
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        output_concat = transpose_output(output, self.num_heads)
        output_concat = self.W_o(output_concat)
        return self.W_o(output_concat)


# %% wrong_w_q_and_w_k_exchanged: W_q and W_k objects exchanged in forward
# kind: different
# breaks: values, gradients
# equals: mha-queries-and-keys-exchanged-layers

import torch
from torch import nn
from torch.nn import functional as F


def lengths_to_mask(lens, num_queries, num_keys):
    """True where a query may look."""
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(-1, num_queries)
    steps = torch.arange(num_keys, device=lens.device)
    return steps < lens.unsqueeze(-1)


class MultiHeadAttention(nn.Module):

    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = num_hiddens // num_heads
        self.p = dropout
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def one_head(self, q, k, v, mask):
        s = q @ k.mT * self.head_dim ** -0.5
        if mask is not None:
            s = torch.where(mask, s, torch.full_like(s, torch.finfo(s.dtype).min))
        a = s.softmax(-1)
        return F.dropout(a, self.p, self.training) @ v, a

    def forward(self, queries, keys, values, valid_lens):
        mask = None
        if valid_lens is not None:
            mask = lengths_to_mask(valid_lens, queries.shape[1], keys.shape[1])
        qs = self.W_k(queries).chunk(self.num_heads, dim=-1)
        ks = self.W_q(keys).chunk(self.num_heads, dim=-1)
        vs = self.W_v(values).chunk(self.num_heads, dim=-1)
        pairs = [self.one_head(q, k, v, mask) for q, k, v in zip(qs, ks, vs)]
        self.attention_weights = [a for _, a in pairs]
        return self.W_o(torch.cat([o for o, _ in pairs], dim=-1))


# %% wrong_w_o_not_applied: W_o created but not applied
# kind: mistake
# breaks: defaults, gradients, masking, values
# equals: mha-no-output-layer

import torch
from torch import nn

from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        q = transpose_qkv(self.W_q(queries), self.num_heads)
        k = transpose_qkv(self.W_k(keys), self.num_heads)
        v = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            valid_lens = torch.repeat_interleave(valid_lens, self.num_heads, dim=0)
        return transpose_output(self.attention(q, k, v, valid_lens), self.num_heads)


# %% wrong_merged_without_transpose: 4-D heads merged by reshape without moving the head axis back
# kind: mistake
# breaks: gradients, masking, values
# equals: mha-merge-by-view

import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class MultiHeadAttention(nn.Module):
    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        num_heads: int,
        dropout: float,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.h = num_heads
        self.d_k = num_hiddens // num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T, S = queries.size(0), queries.size(1), keys.size(1)

        # 1) linear projections, split into heads: (B, h, steps, d_k)
        q = self.W_q(queries).view(B, T, self.h, self.d_k).transpose(1, 2)
        k = self.W_k(keys).view(B, S, self.h, self.d_k).transpose(1, 2)
        v = self.W_v(values).view(B, S, self.h, self.d_k).transpose(1, 2)

        # 2) scaled dot-product attention
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        if valid_lens is not None:
            lens = valid_lens.view(B, 1, -1, 1)
            mask = torch.arange(S, device=scores.device) < lens
            scores = scores.masked_fill(~mask, float("-inf"))
        attn = F.softmax(scores, dim=-1)
        x = self.dropout(attn) @ v

        # 3) concat
        x = x.contiguous().view(B, T, self.h * self.d_k)
        return self.W_o(x)


# %% wrong_bias_default: bias defaults to True
# kind: mistake
# breaks: defaults
# equals: mha-bias-by-default

import torch
from torch import nn

from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=True):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)

    def forward(self, queries, keys, values, valid_lens):
        if valid_lens is not None:
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        heads = self.attention(
            transpose_qkv(self.W_q(queries), self.num_heads),
            transpose_qkv(self.W_k(keys), self.num_heads),
            transpose_qkv(self.W_v(values), self.num_heads),
            valid_lens,
        )
        return self.W_o(transpose_output(heads, self.num_heads))


# %% wrong_one_projection_for_all_heads: one projection of head size, the same for all heads
# kind: mistake
# breaks: defaults, gradients, masking, modes, purity, values
# equals: mha-one-small-layer-for-all-heads

import torch
from torch import nn

from grader.given import DotProductAttention


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        d = num_hiddens // num_heads  # size of one head
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, d, bias=bias)
        self.W_k = nn.Linear(key_size, d, bias=bias)
        self.W_v = nn.Linear(value_size, d, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        heads = []
        for _ in range(self.num_heads):
            head = self.attention(self.W_q(queries), self.W_k(keys), self.W_v(values), valid_lens)
            heads.append(head)
        return self.W_o(torch.cat(heads, dim=-1))


# %% wrong_stale_cache: projected keys and values cached in evaluation mode and used again for other inputs
# kind: mistake
# breaks: masking
# equals: mha-projections-remembered

import torch
from torch import nn

from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.cache = None

    def forward(self, queries, keys, values, valid_lens):
        H = self.num_heads
        q = transpose_qkv(self.W_q(queries), H)
        # at test time the source does not change: project it once
        reusable = not self.training and self.cache is not None and self.cache[2] == keys.shape
        if reusable:
            k, v, _ = self.cache
        else:
            k = transpose_qkv(self.W_k(keys), H)
            v = transpose_qkv(self.W_v(values), H)
            self.cache = (k, v, keys.shape)
        if valid_lens is not None:
            valid_lens = valid_lens.repeat_interleave(H, dim=0)
        return self.W_o(transpose_output(self.attention(q, k, v, valid_lens), H))


# %% wrong_first_head_masked: mask applied to the first head only
# kind: mistake
# breaks: gradients, masking, values
# equals: mha-lens-first-head-only

import math

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        return x.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, queries, keys, values, valid_lens):
        q, k, v = self.split(self.W_q(queries)), self.split(self.W_k(keys)), self.split(self.W_v(values))
        scores = torch.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(q.shape[-1])
        if valid_lens is not None:
            if valid_lens.dim() == 1:
                valid_lens = valid_lens[:, None]
            bias = torch.zeros_like(scores)
            pad = torch.arange(k.shape[2], device=k.device) >= valid_lens[:, :, None]  # (B, 1 or T, S)
            bias[:, 0].masked_fill_(pad, -1e9)
            scores = scores + bias
        self.attention_weights = scores.softmax(dim=-1)
        y = torch.einsum("bhts,bhsd->bthd", self.dropout(self.attention_weights), v)
        return self.W_o(y.flatten(2))


# %% wrong_repeat_interleave_flat: repeat_interleave without dim, flattens (B, T) lengths
# kind: mistake
# breaks: shapes
# equals: mha-lens-repeated-on-all-axes

import math

import torch
from torch import nn

from grader.given import transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        q = transpose_qkv(self.W_q(queries), self.num_heads)
        k = transpose_qkv(self.W_k(keys), self.num_heads)
        v = transpose_qkv(self.W_v(values), self.num_heads)
        scores = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
        if valid_lens is not None:
            # one length per head
            lens = valid_lens.repeat_interleave(self.num_heads)
            lens = lens[:, None, None] if lens.dim() == 1 else lens[:, :, None]
            scores = scores.masked_fill(torch.arange(k.shape[1], device=k.device) >= lens, float("-inf"))
        self.attention_weights = torch.softmax(scores, dim=-1)
        y = torch.bmm(self.dropout(self.attention_weights), v)
        y = transpose_output(y, self.num_heads)
        return self.W_o(y)


# %% wrong_attention_among_heads: heads not moved before time, attention among the heads of a step
# kind: mistake
# breaks: modes, shapes, values
# equals: mha-heads-not-before-steps

import torch
from torch import nn


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens):
        B, T = queries.shape[:2]
        S = keys.shape[1]
        q = self.W_q(queries).view(B, T, self.num_heads, -1)
        k = self.W_k(keys).view(B, S, self.num_heads, -1)
        v = self.W_v(values).view(B, S, self.num_heads, -1)
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        if valid_lens is not None:
            lens = valid_lens.view(B, -1, 1, 1)
            scores = scores.masked_fill(torch.arange(scores.shape[-1], device=q.device) >= lens, float("-inf"))
        out = self.dropout(scores.softmax(-1)) @ v
        return self.W_o(out.reshape(B, T, -1))


# %% wrong_num_heads_as_dropout: num_heads passed as dropout of DotProductAttention
# kind: mistake
# breaks: modes, shapes, values
# equals: mha-number-of-heads-as-dropout

import torch
from torch import nn

from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(num_heads)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        queries = transpose_qkv(self.W_q(queries), self.num_heads)
        keys = transpose_qkv(self.W_k(keys), self.num_heads)
        values = transpose_qkv(self.W_v(values), self.num_heads)
        if valid_lens is not None:
            valid_lens = torch.repeat_interleave(valid_lens, repeats=self.num_heads, dim=0)
        output = self.attention(queries, keys, values, valid_lens)
        return self.W_o(transpose_output(output, self.num_heads))


# %% wrong_relu_and_query_lengths: two mistakes: ReLU after the three projections, and (B, T) lengths ignored
# kind: mistake
# breaks: defaults, gradients, masking, values, weights
# equals: mha-relu-on-projections+mha-query-lens-ignored

import torch
from torch import nn
from torch.nn import functional as F

from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(self, queries, keys, values, valid_lens):
        q = transpose_qkv(F.relu(self.W_q(queries)), self.num_heads)
        k = transpose_qkv(F.relu(self.W_k(keys)), self.num_heads)
        v = transpose_qkv(F.relu(self.W_v(values)), self.num_heads)
        lens = None
        if valid_lens is not None and valid_lens.dim() == 1:
            lens = valid_lens.repeat_interleave(self.num_heads)
        return self.W_o(transpose_output(self.attention(q, k, v, lens), self.num_heads))


# %% wrong_lengths_flattened: repeat_interleave without dim
# kind: mistake
# breaks: gradients, masking
# equals: mha-lens-repeated-on-all-axes

import torch
from torch import nn

from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        num_heads: int,
        dropout: float,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.attention = DotProductAttention(dropout)
        self.W_q = nn.Linear(query_size, num_hiddens, bias=bias)
        self.W_k = nn.Linear(key_size, num_hiddens, bias=bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias=bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias=bias)

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None,
    ) -> torch.Tensor:
        h = self.num_heads
        q = transpose_qkv(self.W_q(queries), h)
        k = transpose_qkv(self.W_k(keys), h)
        v = transpose_qkv(self.W_v(values), h)
        if valid_lens is not None:
            # [2, 3] -> [2, 2, 3, 3]
            valid_lens = torch.repeat_interleave(valid_lens, h)
        return self.W_o(transpose_output(self.attention(q, k, v, valid_lens), h))


# %% right_sum_of_head_blocks: heads stacked from slices; W_o as a sum over its blocks of columns
# kind: same

import torch
from torch import nn

from grader.given import DotProductAttention


class MultiHeadAttention(nn.Module):
    def __init__(
        self,
        key_size: int,
        query_size: int,
        value_size: int,
        num_hiddens: int,
        num_heads: int,
        dropout: float,
        bias: bool = False,
    ) -> None:
        super().__init__()
        self.attention = DotProductAttention(dropout)
        self.num_heads = num_heads
        sizes = {"W_q": query_size, "W_k": key_size, "W_v": value_size, "W_o": num_hiddens}
        for name, size in sizes.items():
            setattr(self, name, nn.Linear(size, num_hiddens, bias=bias))

    def forward(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        valid_lens: torch.Tensor | None,
    ) -> torch.Tensor:
        H = self.num_heads

        def heads_of(Z):
            # (B, n, D) -> list of H pieces (B, n, d) -> (B, H, n, d) -> (B*H, n, d)
            return torch.stack(Z.tensor_split(H, dim=2), dim=1).flatten(0, 1)

        if valid_lens is not None:
            valid_lens = torch.stack([valid_lens] * H, dim=1).flatten(0, 1)
        Y = self.attention(
            heads_of(self.W_q(queries)), heads_of(self.W_k(keys)), heads_of(self.W_v(values)), valid_lens
        )
        Y = Y.unflatten(0, (-1, H))  # (B, H, T, d)
        blocks = self.W_o.weight.tensor_split(H, dim=1)  # H blocks (D, d)
        out = sum(Y[:, h] @ blocks[h].T for h in range(H))
        return out if self.W_o.bias is None else out + self.W_o.bias


# %% wrong_values_and_keys_exchanged: the attention is called with (queries, values, keys)
# kind: mistake
# breaks: defaults, gradients, masking, values, weights
# equals: mha-keys-and-values-swapped

from torch import nn

from grader.given import DotProductAttention, transpose_output, transpose_qkv


class MultiHeadAttention(nn.Module):
    def __init__(self, key_size, query_size, value_size, num_hiddens, num_heads, dropout, bias=False):
        super().__init__()
        self.H = num_heads
        self.W_k = nn.Linear(key_size, num_hiddens, bias)
        self.W_q = nn.Linear(query_size, num_hiddens, bias)
        self.W_v = nn.Linear(value_size, num_hiddens, bias)
        self.W_o = nn.Linear(num_hiddens, num_hiddens, bias)
        self.attention = DotProductAttention(dropout)

    def forward(self, queries, keys, values, valid_lens):
        Q, K, V = self.W_q(queries), self.W_k(keys), self.W_v(values)
        Q, K, V = (transpose_qkv(M, self.H) for M in (Q, K, V))
        if valid_lens is not None:
            # each length H times in a row
            valid_lens = valid_lens.repeat_interleave(self.H, dim=0)
        heads = self.attention(Q, V, K, valid_lens)   # (B*H, T, d)
        return self.W_o(transpose_output(heads, self.H))
