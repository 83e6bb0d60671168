# %% right_complex_rotation: turns by complex numbers, attention by the given function
# kind: same

import torch
from torch import nn

from grader.given import KVCache, cached_attention


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads or d_model // num_heads % 2:
            raise ValueError("sizes")
        self.h, self.d = num_heads, d_model // num_heads
        self.base = base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def turn(self, x, start):
        pos = torch.arange(start, start + x.size(2), device=x.device)
        freq = self.base ** (-torch.arange(0, self.d, 2, device=x.device) / self.d)
        angle = torch.outer(pos, freq)
        z = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(z * torch.polar(torch.ones_like(angle), angle)).flatten(-2).type_as(x)

    def forward(self, x, cache=None):
        cache = cache if cache is not None else KVCache(x.size(1))
        n = cache.length
        q, k, v = (W(x).unflatten(-1, (self.h, self.d)).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v))
        out = cached_attention(self.turn(q, n), self.turn(k, n), v, cache)
        return self.W_o(out.transpose(1, 2).flatten(2))


# %% right_unrotated_keys_stored: keys are stored unrotated and turned on reading
# kind: same

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, base: float = 10000.0):
        super().__init__()
        head, rest = divmod(d_model, num_heads)
        if rest != 0 or head % 2 != 0:
            raise ValueError(f"{d_model} features cannot be split into {num_heads} even heads")
        self.num_heads, self.base = num_heads, base
        for name in "qkvo":
            self.add_module(f"W_{name}", nn.Linear(d_model, d_model, bias=False))

    def heads(self, y):
        B, T, D = y.shape
        return y.view(B, T, self.num_heads, D // self.num_heads).permute(0, 2, 1, 3)

    def forward(self, x, cache=None):
        q, k, v = self.heads(self.W_q(x)), self.heads(self.W_k(x)), self.heads(self.W_v(x))
        if cache is not None:
            k, v = cache.append(k, v)
        S, T = k.size(2), q.size(2)
        p = torch.arange(S, device=x.device)
        q, k = apply_rotary(q, p[S - T :], self.base), apply_rotary(k, p, self.base)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=p <= p[S - T :].unsqueeze(1))
        return self.W_o(out.permute(0, 2, 1, 3).reshape(x.shape))


# %% right_loop_over_heads: one head after the other, softmax by hand
# kind: same

import torch
from torch import nn

from grader.given import apply_rotary


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 == 1:
            raise ValueError("heads need an even number of features")
        self.num_heads = num_heads
        self.base = base
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))

    def forward(self, x, cache=None):
        old = cache.length if cache is not None else 0
        new = x.size(1)
        pos = old + torch.arange(new, device=x.device)
        q, k, v = (torch.stack(w(x).chunk(self.num_heads, dim=-1), dim=1) for w in (self.W_q, self.W_k, self.W_v))
        q, k = apply_rotary(q, pos, self.base), apply_rotary(k, pos, self.base)
        if cache is not None:
            k, v = cache.append(k, v)
        hidden = torch.arange(old + new, device=x.device) > pos[:, None]
        outs = []
        for h in range(self.num_heads):
            s = torch.bmm(q[:, h], k[:, h].transpose(1, 2)) / q.size(-1) ** 0.5
            outs.append(torch.bmm(s.masked_fill(hidden, float("-inf")).softmax(-1), v[:, h]))
        return self.W_o(torch.cat(outs, dim=-1))


# %% wrong_positions_from_zero: positions 0 … T-1 in every call
# kind: mistake
# breaks: modes
# equals: csa-positions-from-zero

import torch
from torch import nn

from grader.given import KVCache, apply_rotary, cached_attention


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads or (d_model // num_heads) % 2:
            raise ValueError("heads")
        self.num_heads = num_heads
        self.base = base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        if cache is None:
            cache = KVCache(T)
        shape = (B, T, self.num_heads, D // self.num_heads)
        q = self.W_q(x).view(shape).transpose(1, 2)
        k = self.W_k(x).view(shape).transpose(1, 2)
        v = self.W_v(x).view(shape).transpose(1, 2)
        positions = torch.arange(T, device=x.device)
        q = apply_rotary(q, positions, self.base)
        k = apply_rotary(k, positions, self.base)
        out = cached_attention(q, k, v, cache)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_query_after_append: the queries are turned with the length after the append
# kind: mistake
# breaks: gradients, modes, values
# equals: csa-queries-after-append

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import KVCache, apply_rotary


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads or (d_model // num_heads) % 2:
            raise ValueError("heads")
        self.H, self.base = num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, x):
        return x.unflatten(-1, (self.H, -1)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.size(1)
        if cache is None:
            cache = KVCache(T)
        steps = torch.arange(T, device=x.device)
        k = apply_rotary(self.split(self.W_k(x)), cache.length + steps, self.base)
        k, v = cache.append(k, self.split(self.W_v(x)))
        q = apply_rotary(self.split(self.W_q(x)), cache.length + steps, self.base)
        S = k.size(2)
        mask = torch.ones(S, S, dtype=torch.bool, device=x.device).tril()[S - T :]
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).flatten(2))


# %% wrong_base_ignored: the rotation always has base 10000
# kind: mistake
# breaks: gradients, values
# equals: csa-base-not-passed

import torch
from torch import nn

from grader.given import KVCache, apply_rotary, cached_attention


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0 or (d_model // num_heads) % 2 != 0:
            raise ValueError("d_model and num_heads do not fit")
        self.num_heads, self.d = num_heads, d_model // num_heads
        self.W_q, self.W_k = nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, d_model, bias=False)
        self.W_v, self.W_o = nn.Linear(d_model, d_model, bias=False), nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        cache = KVCache(x.size(1)) if cache is None else cache
        where = torch.arange(cache.length, cache.length + x.size(1), device=x.device)
        q, k, v = (
            layer(x).unflatten(2, (self.num_heads, self.d)).transpose(1, 2)
            for layer in (self.W_q, self.W_k, self.W_v)
        )
        out = cached_attention(apply_rotary(q, where), apply_rotary(k, where), v, cache)
        return self.W_o(out.transpose(1, 2).flatten(2))


# %% wrong_one_private_cache: without a cache the calls share one that is made in the constructor
# kind: mistake
# breaks: purity
# equals: csa-own-cache-kept

import torch
from torch import nn

from grader.given import KVCache, apply_rotary, cached_attention


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads or (d_model // num_heads) % 2:
            raise ValueError("sizes do not fit")
        self.num_heads, self.base = num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)
        self.own = KVCache(4096)

    def forward(self, x, cache=None):
        if cache is None:
            cache = self.own
        p = torch.arange(x.size(1), device=x.device) + cache.length
        q, k, v = (f(x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for f in (self.W_q, self.W_k, self.W_v))
        out = cached_attention(apply_rotary(q, p, self.base), apply_rotary(k, p, self.base), v, cache)
        return self.W_o(out.transpose(1, 2).flatten(2))


# %% wrong_no_mask_without_cache: without a cache the attention is not causal
# kind: mistake
# breaks: gradients, values
# equals: csa-no-mask-without-cache

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, cached_attention


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads or (d_model // num_heads) % 2:
            raise ValueError("sizes do not fit")
        self.num_heads, self.base = num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        start = 0 if cache is None else cache.length
        pos = torch.arange(start, start + T, device=x.device)
        q, k, v = (f(x).reshape(B, T, self.num_heads, -1).transpose(1, 2) for f in (self.W_q, self.W_k, self.W_v))
        q, k = apply_rotary(q, pos, self.base), apply_rotary(k, pos, self.base)
        if cache is None:
            out = F.scaled_dot_product_attention(q, k, v)
        else:
            out = cached_attention(q, k, v, cache)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_heads_not_joined: reshaped to (B, T, D) without the transpose back
# kind: mistake
# breaks: gradients, modes, values
# equals: csa-heads-not-moved-back

import torch
from torch import nn

from grader.given import KVCache, apply_rotary, cached_attention


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads or (d_model // num_heads) % 2:
            raise ValueError("sizes do not fit")
        self.num_heads, self.base = num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        cache = KVCache(T) if cache is None else cache
        n = cache.length
        pos = torch.arange(n, n + T, device=x.device)
        q, k, v = (f(x).reshape(B, T, self.num_heads, -1).transpose(1, 2) for f in (self.W_q, self.W_k, self.W_v))
        y = cached_attention(apply_rotary(q, pos, self.base), apply_rotary(k, pos, self.base), v, cache)
        return self.W_o(y.contiguous().view(B, T, D))


# %% wrong_turned_before_the_split: the rotation covers the whole model width
# kind: mistake
# breaks: gradients, modes, values
# equals: csa-turned-before-split

import torch
from torch import nn

from grader.given import KVCache, apply_rotary, cached_attention


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads or (d_model // num_heads) % 2:
            raise ValueError("sizes do not fit")
        self.num_heads, self.base = num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        cache = KVCache(T) if cache is None else cache
        pos = torch.arange(T, device=x.device) + cache.length
        q = apply_rotary(self.W_q(x)[:, None], pos, self.base)[:, 0]
        k = apply_rotary(self.W_k(x)[:, None], pos, self.base)[:, 0]
        q, k, v = (y.view(B, T, self.num_heads, -1).transpose(1, 2) for y in (q, k, self.W_v(x)))
        y = cached_attention(q, k, v, cache)
        return self.W_o(y.transpose(1, 2).reshape(B, T, D))


# %% wrong_cache_of_inputs: the cache stores the inputs, and all of them are projected again
# kind: mistake
# breaks: cost
# equals: csa-inputs-stored

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads or (d_model // num_heads) % 2:
            raise ValueError("sizes do not fit")
        self.num_heads, self.base = num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def split(self, y):
        return y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.size(1)
        text = x
        if cache is not None:
            text, _ = cache.append(self.split(x), self.split(x))
            text = text.transpose(1, 2).flatten(2)
        S = text.size(1)
        pos = torch.arange(S, device=x.device)
        q = apply_rotary(self.split(self.W_q(x)), pos[S - T :], self.base)
        k = apply_rotary(self.split(self.W_k(text)), pos, self.base)
        v = self.split(self.W_v(text))
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=pos <= pos[S - T :, None])
        return self.W_o(out.transpose(1, 2).flatten(2))


# %% wrong_unchecked_and_values_turned: no check of the sizes, and the values are turned as well
# kind: mistake
# breaks: gradients, modes, shapes, values
# equals: csa-any-heads+csa-values-turned

import torch
from torch import nn

from grader.given import KVCache, apply_rotary, cached_attention


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        self.num_heads, self.base = num_heads, base
        self.head = d_model // num_heads
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        cache = cache if cache is not None else KVCache(T)
        pos = torch.arange(cache.length, cache.length + T, device=x.device)
        q, k, v = (
            apply_rotary(W(x).view(B, T, self.num_heads, self.head).transpose(1, 2), pos, self.base)
            for W in (self.W_q, self.W_k, self.W_v)
        )
        out = cached_attention(q, k, v, cache)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_position_one_behind: continues at the position of the last stored step
# kind: mistake
# breaks: modes
# equals: csa-positions-one-behind

import torch
from torch import nn

from grader.given import KVCache, apply_rotary, cached_attention


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads or (d_model // num_heads) % 2:
            raise ValueError("sizes do not fit")
        self.num_heads, self.base = num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        if cache is None:
            cache = KVCache(T)
        # the last index of what is stored
        n = max(cache.length - 1, 0)
        pos = torch.arange(n, n + T, device=x.device)
        q, k, v = (f(x).reshape(B, T, self.num_heads, -1).transpose(1, 2) for f in (self.W_q, self.W_k, self.W_v))
        y = cached_attention(apply_rotary(q, pos, self.base), apply_rotary(k, pos, self.base), v, cache)
        return self.W_o(y.transpose(1, 2).flatten(2))


# %% right_odd_heads_by_the_given: an odd head is refused by the given rotation, in the first forward
# kind: same

import torch
from torch import nn

from grader.given import KVCache, apply_rotary, cached_attention


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.num_heads, self.base = num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        if cache is None:
            cache = KVCache(T)
        pos = torch.arange(T, device=x.device) + cache.length
        q, k, v = (f(x).reshape(B, T, self.num_heads, -1).transpose(1, 2) for f in (self.W_q, self.W_k, self.W_v))
        y = cached_attention(apply_rotary(q, pos, self.base), apply_rotary(k, pos, self.base), v, cache)
        return self.W_o(y.transpose(1, 2).flatten(2))


# %% wrong_scaled_by_model_width: scores divided by the square root of d_model
# kind: mistake
# breaks: gradients, modes, values

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads or (d_model // num_heads) % 2:
            raise ValueError("sizes do not fit")
        self.num_heads, self.base = num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        n = cache.length if cache is not None else 0
        pos = torch.arange(n, n + T, device=x.device)
        q, k, v = (f(x).reshape(B, T, self.num_heads, -1).transpose(1, 2) for f in (self.W_q, self.W_k, self.W_v))
        q, k = apply_rotary(q, pos, self.base), apply_rotary(k, pos, self.base)
        if cache is not None:
            k, v = cache.append(k, v)
        visible = torch.arange(n + T, device=x.device) <= pos[:, None]
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=visible, scale=D**-0.5)
        return self.W_o(y.transpose(1, 2).flatten(2))


# %% wrong_keys_not_turned: only the queries are turned
# kind: mistake
# breaks: gradients, modes, values
# equals: csa-only-queries

import torch
from torch import nn

from grader.given import KVCache, apply_rotary, cached_attention


class CachedSelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads or (d_model // num_heads) % 2:
            raise ValueError("sizes do not fit")
        self.h, self.base = num_heads, base
        for name in ("W_q", "W_k", "W_v", "W_o"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))

    def forward(self, x, cache=None):
        cache = KVCache(x.shape[1]) if cache is None else cache
        q, k, v = (f(x).unflatten(2, (self.h, -1)).transpose(1, 2) for f in (self.W_q, self.W_k, self.W_v))
        q = apply_rotary(q, torch.arange(x.shape[1], device=x.device) + cache.length, self.base)
        return self.W_o(cached_attention(q, k, v, cache).transpose(1, 2).flatten(2))
