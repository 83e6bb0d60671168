# %% right_corrected: mask, weights before dropout, heads transposed back
# kind: same

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% right_einsum: einsum, with the mask as a comparison of positions
# kind: same

import torch
from torch import nn

class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.h = num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.drop = nn.Dropout(p=dropout)

    def forward(self, x: torch.Tensor):
        B, T, E = x.shape
        q = self.W_Q(x).reshape(B, T, self.h, E // self.h)
        k = self.W_K(x).reshape(B, T, self.h, E // self.h)
        v = self.W_V(x).reshape(B, T, self.h, E // self.h)
        pos = torch.arange(T, device=x.device)
        logits = torch.einsum('bihd,bjhd->bhij', q, k) / (E // self.h) ** 0.5
        logits = logits.masked_fill(pos[None, :] > pos[:, None], torch.finfo(logits.dtype).min)
        attention = logits.softmax(dim=3)
        out = torch.einsum('bhij,bjhd->bihd', self.drop(attention), v).reshape(B, T, E)
        return self.fc_out(out), attention


# %% right_given_attention: the given attention with lengths 1 … T, weights split by head
# kind: same

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv

class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.attention = DotProductAttention(dropout)

    def forward(self, x):
        B, T, _ = x.shape
        Q = transpose_qkv(self.W_Q(x), self.num_heads)
        K = transpose_qkv(self.W_K(x), self.num_heads)
        V = transpose_qkv(self.W_V(x), self.num_heads)
        lens = torch.arange(1, T + 1, device=x.device).expand(B * self.num_heads, T)
        out = self.fc_out(transpose_output(self.attention(Q, K, V, lens), self.num_heads))
        return out, self.attention.attention_weights.view(B, self.num_heads, T, T)


# %% right_heads_joined_by_cat: a loop over heads, joined with cat
# kind: same

import math
import torch
from torch import nn

class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        T = x.shape[1]
        past = torch.tril(torch.ones(T, T, device=x.device)) == 1
        outs, maps = [], []
        for q, k, v in zip(*(w(x).chunk(self.num_heads, -1) for w in (self.W_Q, self.W_K, self.W_V))):
            s = torch.bmm(q, k.transpose(1, 2)) / math.sqrt(q.shape[-1])
            a = torch.softmax(torch.where(past, s, torch.full_like(s, float('-inf'))), dim=-1)
            maps.append(a)
            outs.append(torch.bmm(self.dropout(a), v))
        return self.fc_out(torch.cat(outs, dim=-1)), torch.stack(maps, dim=1)


# %% right_weights_cloned: keeps a detached copy of the weights and drops afterwards
# kind: same

import torch
from torch import nn
import torch.nn.functional as F

class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super().__init__()
        self.num_heads = num_heads
        self.p = dropout
        self.W_Q, self.W_K, self.W_V = nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim), nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)

    def forward(self, x):
        T = x.size(1)
        q, k, v = [w(x).unflatten(2, (self.num_heads, -1)).transpose(1, 2) for w in (self.W_Q, self.W_K, self.W_V)]
        bias = torch.full((T, T), -torch.inf, dtype=x.dtype, device=x.device).triu(1)
        weights = (q @ k.mT * q.shape[-1] ** -0.5 + bias).softmax(-1)
        shown = weights.clone()
        weights = F.dropout(weights, self.p, self.training)
        return self.fc_out((weights @ v).transpose(1, 2).flatten(2)), shown


# %% wrong_anti_causal: hides the past instead of the future
# kind: mistake
# breaks: masking

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.tril(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=-1)
        scores = scores.masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% wrong_dropout_on_output: moves dropout to the output
# kind: mistake
# breaks: modes

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(attention, V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.dropout(self.fc_out(out)), attention


# %% wrong_dropout_on_scores: moves dropout in front of the softmax
# kind: mistake
# breaks: modes

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = self.dropout(scores).masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(attention, V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% wrong_dropout_removed: removes dropout so that the weights are not dropped
# kind: mistake
# breaks: modes

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(attention, V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% wrong_dropped_weights_returned: still returns the dropped weights
# kind: mistake
# breaks: weights

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, float('-inf'))
        attention = self.dropout(torch.softmax(scores, dim=-1))

        out = torch.matmul(attention, V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% wrong_fills_zero: gives the future the score 0
# kind: mistake
# breaks: masking

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, 0.0)
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% wrong_interleaved_merge: transposes back the wrong pair of axes
# kind: mistake
# breaks: values, gradients

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.permute(0, 2, 3, 1).reshape(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% wrong_mask_first_head_only: masks the first head only
# kind: mistake
# breaks: masking

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = torch.cat([scores[:, :1].masked_fill(future, float('-inf')), scores[:, 1:]], dim=1)
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% wrong_masked_after_softmax: zeroes the future after softmax without renormalising
# kind: mistake
# breaks: masking

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        attention = torch.softmax(scores, dim=-1).tril()

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% wrong_merge_by_reshape: still merges the heads by reshape without transposing back
# kind: mistake
# breaks: values, gradients

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.reshape(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% wrong_only_output: returns the output alone
# kind: mistake
# breaks: shapes

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out)


# %% wrong_order_of_results: returns the weights first
# kind: mistake
# breaks: shapes

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return attention, self.fc_out(out)


# %% wrong_own_step_hidden: hides the own step as well
# kind: mistake
# breaks: masking

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=0)
        scores = scores.masked_fill(future, -1e9)
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% wrong_scale_embed_dim: divides by the root of embed_dim
# kind: mistake
# breaks: values, gradients

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.embed_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% wrong_scores_returned: returns the scores instead of the weights
# kind: mistake
# breaks: weights

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), scores


# %% wrong_sees_next: each step sees the next one too
# kind: mistake
# breaks: masking

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=2)
        scores = scores.masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% wrong_still_no_mask: corrects the weights and the merge, but still has no causal mask
# kind: mistake
# breaks: masking

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention


# %% wrong_weights_averaged: returns the weights averaged over the heads
# kind: mistake
# breaks: shapes

import torch
import torch.nn as nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim, num_heads, dropout=0.1):
        super(TransparentSelfAttention, self).__init__()
        assert embed_dim % num_heads == 0, "embed_dim must be divisible by num_heads"
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        batch_size, seq_length, embed_dim = x.size()
        Q = self.W_Q(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        K = self.W_K(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)
        V = self.W_V(x).view(batch_size, seq_length, self.num_heads, self.head_dim).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / (self.head_dim ** 0.5)
        future = torch.triu(torch.ones(seq_length, seq_length, dtype=torch.bool, device=x.device), diagonal=1)
        scores = scores.masked_fill(future, float('-inf'))
        attention = torch.softmax(scores, dim=-1)

        out = torch.matmul(self.dropout(attention), V)
        out = out.transpose(1, 2).contiguous().view(batch_size, seq_length, embed_dim)
        return self.fc_out(out), attention.mean(dim=1)


# %% wrong_stopped_at_the_mask: two mistakes: the heads are merged by reshape, and the dropped weights are returned
# kind: mistake
# breaks: gradients, masking, values, weights

import math

import torch
from torch import nn


class TransparentSelfAttention(nn.Module):
    def __init__(self, embed_dim: int, num_heads: int, dropout: float = 0.1) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = embed_dim // num_heads
        self.W_Q = nn.Linear(embed_dim, embed_dim)
        self.W_K = nn.Linear(embed_dim, embed_dim)
        self.W_V = nn.Linear(embed_dim, embed_dim)
        self.fc_out = nn.Linear(embed_dim, embed_dim)
        self.dropout = nn.Dropout(dropout)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        batch, steps, _ = x.shape
        return x.reshape(batch, steps, self.num_heads, self.head_dim).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        q, k, v = self.split(self.W_Q(x)), self.split(self.W_K(x)), self.split(self.W_V(x))
        scores = q @ k.transpose(2, 3) / math.sqrt(self.head_dim)
        # it was not causal at all, now it is
        steps = x.shape[1]
        causal = torch.ones(steps, steps, dtype=torch.bool, device=x.device).tril()
        scores = scores.masked_fill(~causal, float("-inf"))
        attention = self.dropout(torch.softmax(scores, dim=-1))
        heads = attention @ v
        return self.fc_out(heads.reshape(x.shape)), attention
