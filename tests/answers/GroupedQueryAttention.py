# %% right_enable_gqa: scaled_dot_product_attention with enable_gqa
# kind: same

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        b, t, _ = x.shape
        first = cache.total if cache is not None else 0
        q = self.W_q(x).view(b, t, self.h, self.d).transpose(1, 2)
        k = self.W_k(x).view(b, t, self.g, self.d).transpose(1, 2)
        v = self.W_v(x).view(b, t, self.g, self.d).transpose(1, 2)
        here = torch.arange(first, first + t, device=x.device)
        there = here
        if cache is not None:
            k, v, there = cache.append(k, v)
        mask = window_mask(here, there, self.window, self.sinks)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
        return self.W_o(out.transpose(1, 2).reshape(b, t, -1))


# %% right_group_axis: einsum with an axis for the group, nothing is copied
# kind: same

import torch
from torch import nn


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def visible(self, q, k):
        gap = q[:, None] - k[None, :]
        ok = (gap >= 0) & (k >= 0)
        if self.window is None:
            return ok
        return ok & ((gap < self.window) | (k < self.sinks))

    def forward(self, x, cache=None):
        b, t, D = x.shape
        q = self.W_q(x).reshape(b, t, self.g, self.h // self.g, self.d)
        k = self.W_k(x).reshape(b, t, self.g, self.d).permute(0, 2, 1, 3)
        v = self.W_v(x).reshape(b, t, self.g, self.d).permute(0, 2, 1, 3)
        if cache is None:
            pos = now = torch.arange(t, device=x.device)
        else:
            now = cache.total + torch.arange(t, device=x.device)
            k, v, pos = cache.append(k, v)
        scores = torch.einsum("btgrd,bgsd->bgrts", q * self.d**-0.5, k)
        scores = scores.masked_fill(~self.visible(now, pos), torch.finfo(scores.dtype).min)
        out = torch.einsum("bgrts,bgsd->btgrd", scores.softmax(dim=-1), v)
        return self.W_o(out.reshape(b, t, D))


# %% right_head_by_head: one query head after the other, bias added to the scores
# kind: same

import torch
from torch import nn

from grader.given import window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        T = x.shape[1]
        k = torch.stack(self.W_k(x).split(self.d, dim=-1), dim=1)
        v = torch.stack(self.W_v(x).split(self.d, dim=-1), dim=1)
        q_pos = torch.arange(T, device=x.device)
        if cache is None:
            k_pos = q_pos
        else:
            q_pos = q_pos + cache.total
            k, v, k_pos = cache.append(k, v)
        mask = window_mask(q_pos, k_pos, self.window, self.sinks)
        bias = torch.zeros(mask.shape, dtype=x.dtype, device=x.device)
        bias[~mask] = float("-inf")
        size = self.h // self.g
        heads = []
        for i, q in enumerate(self.W_q(x).split(self.d, dim=-1)):
            scores = torch.baddbmm(bias, q, k[:, i // size].mT, alpha=self.d**-0.5)
            heads.append(torch.bmm(torch.softmax(scores, -1), v[:, i // size]))
        return self.W_o(torch.cat(heads, -1))


# %% right_always_a_ring: without a cache it makes its own, queries one after the other
# kind: same

import torch
from torch import nn

from grader.given import RingCache


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        if cache is None:
            cache = RingCache(window=T if self.window is None else self.window, sinks=self.sinks)
        start = cache.total
        keys, values, where = cache.append(
            self.W_k(x).view(B, T, self.g, -1).transpose(1, 2),
            self.W_v(x).view(B, T, self.g, -1).transpose(1, 2),
        )
        queries = self.W_q(x).view(B, T, self.g, self.h // self.g, self.d)
        rows = []
        for t in range(T):
            p = start + t
            seen = (where >= 0) & (where <= p)
            if self.window is not None:
                seen = seen & ((where > p - self.window) | (where < self.sinks))
            k, v = keys[:, :, seen], values[:, :, seen]
            w = torch.softmax(queries[:, t] @ k.transpose(2, 3) / self.d**0.5, dim=3)
            rows.append((w @ v).reshape(B, D))
        return self.W_o(torch.stack(rows, dim=1))


# %% wrong_tiled_heads: k.repeat over the heads
# kind: mistake
# breaks: gradients, masking, modes, values
# equals: gqa-heads-tiled

import math

import torch
from torch import nn

from grader.given import window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        n = self.h // self.g
        k, v = k.repeat(1, n, 1, 1), v.repeat(1, n, 1, 1)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_caches_copies: repeats before the append
# kind: mistake
# breaks: cost
# equals: gqa-cache-of-copies

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        if cache is not None:
            k, v, kp = cache.append(k, v)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_total_after_append: reads total after the append
# kind: mistake
# breaks: modes
# equals: gqa-total-after-append

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start, kp = 0, torch.arange(T, device=x.device)
        if cache is not None:
            k, v, kp = cache.append(k, v)
            start = cache.total
        qp = torch.arange(start, start + T, device=x.device)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_queries_from_zero: queries of a piece start at 0
# kind: mistake
# breaks: modes
# equals: gqa-positions-from-zero

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_places_of_keys: masks by the places in the cache
# kind: mistake
# breaks: modes
# equals: gqa-places-for-positions

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, _ = cache.append(k, v)
            kp = torch.arange(k.shape[2], device=x.device)
            qp = torch.arange(k.shape[2] - T, k.shape[2], device=x.device)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_no_mask_with_cache: the cache holds only the past, so no mask
# kind: mistake
# breaks: modes
# equals: gqa-no-mask-with-cache

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        if cache is not None:
            mask = torch.ones_like(mask)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_window_only_without_cache: with a cache it trusts the ring to be the window
# kind: mistake
# breaks: modes
# equals: gqa-window-ignored-with-cache

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window if cache is None else None, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_sinks_forgotten: never passes the sinks on
# kind: mistake
# breaks: gradients, masking, modes
# equals: gqa-sinks-ignored

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_no_scale: scores are not scaled
# kind: mistake
# breaks: defaults, gradients, masking, modes, values
# equals: gqa-not-scaled

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_scale_of_model: divides by sqrt(d_model)
# kind: mistake
# breaks: defaults, gradients, masking, modes, values
# equals: gqa-scaled-by-model

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.h * self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_values_tiled: keys are interleaved but values tiled
# kind: mistake
# breaks: gradients, masking, modes, values
# equals: gqa-values-tiled

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), v.repeat(1, self.h // self.g, 1, 1)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_assert_heads: assert instead of ValueError
# kind: mistake
# breaks: shapes
# equals: gqa-any-sizes

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        assert d_model % num_heads == 0
        assert num_heads % num_kv_heads == 0
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_heads_not_moved_back: flattens without moving the heads back
# kind: mistake
# breaks: defaults, gradients, masking, modes, values
# equals: gqa-heads-not-moved-back

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).reshape(B, T, -1))


# %% wrong_never_causal: without window or cache there is no mask
# kind: mistake
# breaks: defaults, gradients, values
# equals: gqa-no-mask-without-window

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        if self.window is None and cache is None:
            mask = torch.ones_like(mask)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_split_in_view: views the steps as heads
# kind: mistake
# breaks: defaults, gradients, masking, modes, values
# equals: gqa-heads-from-view

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.reshape(x.shape[0], n, x.shape[1], self.d)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_hidden_scores_zero: scores times mask, and the scale is missing
# kind: mistake
# breaks: defaults, gradients, masking, modes, values
# equals: gqa-hidden-scores-zero+gqa-not-scaled

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT
        weights = (scores * mask).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_drop_after_softmax: masks after the softmax, weights do not sum to one
# kind: mistake
# breaks: defaults, gradients, masking, modes, values
# equals: gqa-masked-after-softmax

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.softmax(-1) * mask
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_one_key_head_used: head 0 of the keys for all query heads
# kind: mistake
# breaks: defaults, gradients, masking, modes, values
# equals: gqa-one-key-head-used

import math

import torch
from torch import nn

from grader.given import window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_v = nn.Linear(d_model, self.g * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.g)
        v = self.split(self.W_v(x), self.g)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = k[:, :1], v[:, :1]
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_full_key_heads: W_k and W_v with all heads, of which groups are averaged
# kind: mistake
# breaks: purity
# equals: gqa-full-layers

import math

import torch
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x, n):
        return x.unflatten(-1, (n, self.d)).transpose(1, 2)

    def forward(self, x, cache=None):
        B, T, _ = x.shape
        q = self.split(self.W_q(x), self.h)
        k = self.split(self.W_k(x), self.h).unflatten(1, (self.g, -1)).mean(2)
        v = self.split(self.W_v(x), self.h).unflatten(1, (self.g, -1)).mean(2)
        start = 0 if cache is None else cache.total
        qp = torch.arange(start, start + T, device=x.device)
        kp = qp
        if cache is not None:
            k, v, kp = cache.append(k, v)
        k, v = repeat_kv(k, self.h // self.g), repeat_kv(v, self.h // self.g)
        mask = window_mask(qp, kp, window=self.window, sinks=self.sinks)
        scores = q @ k.mT / math.sqrt(self.d)
        weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
        return self.W_o((weights @ v).transpose(1, 2).flatten(2))


# %% wrong_total_after_append_fused: reads total after the append; SDPA gives zeros where nothing is visible
# kind: mistake
# breaks: modes
# equals: gqa-total-after-append

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.h, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.g, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.g, self.d).transpose(1, 2)
        at = own = torch.arange(T, device=x.device)
        if cache is not None:
            k, v, at = cache.append(k, v)
            own = own + cache.total
        n = self.h // self.g
        mask = window_mask(own, at, window=self.window, sinks=self.sinks)
        out = F.scaled_dot_product_attention(q, repeat_kv(k, n), repeat_kv(v, n), attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_queries_from_zero_fused: the queries of a piece start at 0; SDPA gives zeros where nothing is visible
# kind: mistake
# breaks: modes
# equals: gqa-positions-from-zero

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.h, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.g, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.g, self.d).transpose(1, 2)
        at = own = torch.arange(T, device=x.device)
        if cache is not None:
            k, v, at = cache.append(k, v)
        n = self.h // self.g
        mask = window_mask(own, at, window=self.window, sinks=self.sinks)
        out = F.scaled_dot_product_attention(q, repeat_kv(k, n), repeat_kv(v, n), attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_last_positions: the last positions of the keys are taken for those of the queries
# kind: mistake
# breaks: modes
# equals: gqa-last-rows-are-new

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import repeat_kv, window_mask


class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads, window=None, sinks=0):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("heads do not divide")
        self.h, self.g, self.d = num_heads, num_kv_heads, d_model // num_heads
        self.window, self.sinks = window, sinks
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.h, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.g, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.g, self.d).transpose(1, 2)
        at = own = torch.arange(T, device=x.device)
        if cache is not None:
            k, v, at = cache.append(k, v)
            own = at[-T:]
        n = self.h // self.g
        mask = window_mask(own, at, window=self.window, sinks=self.sinks)
        out = F.scaled_dot_product_attention(q, repeat_kv(k, n), repeat_kv(v, n), attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))
