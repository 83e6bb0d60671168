# %% right_boolean_triu: boolean triu(diagonal=1) and masked_fill
# kind: same

import math
import torch
import torch.nn as nn

class TangledSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_head: int):
        super().__init__()
        self.n_head = n_head
        self.d = d_model // n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        B, T, D = x.shape
        q, k, v = (w(x).unflatten(-1, (self.n_head, self.d)).transpose(1, 2) for w in (self.w_q, self.w_k, self.w_v))
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        scores = (q @ k.mT / math.sqrt(self.d)).masked_fill(future, -torch.inf)
        return self.fc_out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


# %% right_corrected: Q K^T, a (T, T) mask, masked_fill with -inf
# kind: same

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.triu(torch.ones(time, time, dtype=x.dtype, device=x.device), diagonal=1)
        mask = mask.masked_fill(mask == 1, float('-inf'))
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% right_is_causal: scaled_dot_product_attention with is_causal
# kind: same

import torch.nn.functional as F
from torch import nn

class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.d_model, self.n_head = d_model, n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q = self.w_q(x).view(b, t, self.n_head, -1).transpose(1, 2)
        k = self.w_k(x).view(b, t, self.n_head, -1).transpose(1, 2)
        v = self.w_v(x).view(b, t, self.n_head, -1).transpose(1, 2)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.fc_out(y.transpose(1, 2).reshape(b, t, self.d_model))


# %% right_lens_per_query: causal through lengths 1 … T and the given attention
# kind: same

import torch
from torch import nn
from grader.given import DotProductAttention, transpose_output, transpose_qkv

class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.attention = DotProductAttention(0.0)

    def forward(self, x):
        q, k, v = (transpose_qkv(layer(x), self.n_head) for layer in (self.w_q, self.w_k, self.w_v))
        lens = torch.arange(1, x.shape[1] + 1, device=x.device).repeat(q.shape[0], 1)
        return self.fc_out(transpose_output(self.attention(q, k, v, lens), self.n_head))


# %% right_mask_in_float32: adds a float32 mask whatever the dtype of the scores
# kind: policy
# later: precision

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.triu(torch.ones(time, time, device=x.device), diagonal=1)
        mask = mask.masked_fill(mask == 1, float('-inf'))
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% right_prefix_loop: each step attends to the prefix up to itself, in a loop
# kind: same

import torch
from torch import nn

class TangledSelfAttention(nn.Module):
    """Causal without a mask: step t gets keys 0 … t and no others."""
    def __init__(self, d_model, n_head):
        super().__init__()
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x):
        B, T, D = x.shape
        d = D // self.n_head
        shape = (B, T, self.n_head, d)
        q, k, v = self.w_q(x).view(shape), self.w_k(x).view(shape), self.w_v(x).view(shape)
        steps = []
        for t in range(T):
            a = torch.einsum('bhd,bshd->bhs', q[:, t], k[:, :t + 1]) / d ** 0.5
            steps.append(torch.einsum('bhs,bshd->bhd', a.softmax(-1), v[:, :t + 1]).reshape(B, D))
        return self.fc_out(torch.stack(steps, dim=1))


# %% wrong_anti_causal: hides the past instead of the future
# kind: mistake
# breaks: masking

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.tril(torch.ones(time, time, dtype=x.dtype, device=x.device), diagonal=-1)
        mask = mask.masked_fill(mask == 1, float('-inf'))
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_mask_adds_one: adds the 0/1 mask itself to the scores
# kind: mistake
# breaks: masking

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.triu(torch.ones(time, time, dtype=x.dtype, device=x.device), diagonal=1)
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_mask_removed: removes the mask that did not fit, so the future is seen
# kind: mistake
# breaks: masking

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        A = self.softmax(A)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_mask_size_left: the mask keeps the size (d, d)
# kind: mistake
# breaks: values

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.triu(torch.ones(head_dim, head_dim, dtype=x.dtype, device=x.device), diagonal=1)
        mask = mask.masked_fill(mask == 1, float('-inf'))
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_masked_after_softmax: zeroes the future after softmax without renormalising
# kind: mistake
# breaks: masking

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        A = torch.tril(self.softmax(A))

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_merge_without_permute: merges the heads without permuting back
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.triu(torch.ones(time, time, dtype=x.dtype, device=x.device), diagonal=1)
        mask = mask.masked_fill(mask == 1, float('-inf'))
        A = self.softmax(A + mask)

        B = (A @ V).reshape(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_no_fc_out: returns the joined heads without fc_out
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.triu(torch.ones(time, time, dtype=x.dtype, device=x.device), diagonal=1)
        mask = mask.masked_fill(mask == 1, float('-inf'))
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return B


# %% wrong_no_scale: loses the scaling while mending
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3)
        mask = torch.triu(torch.ones(time, time, dtype=x.dtype, device=x.device), diagonal=1)
        mask = mask.masked_fill(mask == 1, float('-inf'))
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_own_step_hidden: hides the own step as well
# kind: mistake
# breaks: masking

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.triu(torch.ones(time, time, dtype=x.dtype, device=x.device), diagonal=0)
        mask = mask.masked_fill(mask == 1, -1e9)
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_scale_d_model: divides by the root of d_model
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / self.d_model ** 0.5
        mask = torch.triu(torch.ones(time, time, dtype=x.dtype, device=x.device), diagonal=1)
        mask = mask.masked_fill(mask == 1, float('-inf'))
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_scores_detached: builds the masked scores from A.data
# kind: mistake
# breaks: gradients

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.triu(torch.ones(time, time, dtype=x.dtype, device=x.device), diagonal=1)
        mask = mask.masked_fill(mask == 1, float('-inf'))
        A = self.softmax(A.data + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_scores_times_mask: multiplies the scores by the mask, so the future has score 0
# kind: mistake
# breaks: masking

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.tril(torch.ones(time, time, dtype=x.dtype, device=x.device))
        A = self.softmax(A * mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_scores_times_q_left: corrects the mask, but the scores are still Q K^T Q
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) @ Q / head_dim ** 0.5
        mask = torch.triu(torch.ones(time, head_dim, dtype=x.dtype, device=x.device), diagonal=1)
        mask = mask.masked_fill(mask == 1, float('-inf'))
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_sees_next: each step sees the next one too
# kind: mistake
# breaks: masking

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.triu(torch.ones(time, time, dtype=x.dtype, device=x.device), diagonal=2)
        mask = mask.masked_fill(mask == 1, float('-inf'))
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_softmax_axis: softmax over the queries
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-2)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.triu(torch.ones(time, time, dtype=x.dtype, device=x.device), diagonal=1)
        mask = mask.masked_fill(mask == 1, float('-inf'))
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_zero_times_inf_left: 0/1 mask times -inf stays: 0*-inf is NaN
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model, n_head):
        super(TangledSelfAttention, self).__init__()
        self.d_model = d_model
        self.n_head = n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)
        self.softmax = nn.Softmax(dim=-1)

    def forward(self, x):
        batch, time, dimension = x.shape
        head_dim = self.d_model // self.n_head
        Q, K, V = self.w_q(x), self.w_k(x), self.w_v(x)
        Q = Q.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        K = K.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)
        V = V.view(batch, time, self.n_head, head_dim).permute(0, 2, 1, 3)

        A = Q @ K.transpose(2, 3) / head_dim ** 0.5
        mask = torch.triu(torch.ones(time, time, dtype=x.dtype, device=x.device), diagonal=1)
        mask = mask * float('-inf')
        A = self.softmax(A + mask)

        B = (A @ V).permute(0, 2, 1, 3).contiguous().view(batch, time, dimension)
        return self.fc_out(B)


# %% wrong_mask_of_head_size: the scores are corrected, but the mask keeps the size of a head
# kind: mistake
# breaks: defaults, masking, shapes, values

import math

import torch
from torch import nn


class TangledSelfAttention(nn.Module):
    def __init__(self, d_model: int, n_head: int) -> None:
        super().__init__()
        self.n_head = n_head
        self.d_head = d_model // n_head
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_model, bias=False)
        self.w_v = nn.Linear(d_model, d_model, bias=False)
        self.fc_out = nn.Linear(d_model, d_model, bias=False)

    def split(self, x: torch.Tensor) -> torch.Tensor:
        batch, steps, _ = x.shape
        return x.reshape(batch, steps, self.n_head, self.d_head).transpose(1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.split(self.w_q(x)), self.split(self.w_k(x)), self.split(self.w_v(x))
        # fixed: there was one @ q too many
        scores = q @ k.transpose(2, 3) / math.sqrt(self.d_head)
        # fixed: 0 * -inf is nan, so masked_fill
        future = torch.triu(torch.ones(self.d_head, self.d_head, device=x.device), diagonal=1).bool()
        weights = torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
        heads = weights @ v
        return self.fc_out(heads.transpose(1, 2).reshape(x.shape))
