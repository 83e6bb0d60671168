# %% right_given_parts: rotation and repeated heads of earlier lessons, SDPA with a mask
# kind: same

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ffn(self.norm2(x))


# %% right_by_hand: rotation and scores by hand, nn.RMSNorm
# kind: same

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = dim // n_heads
        kv_dim = n_kv_heads * self.head_dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = cache.length if cache is not None else 0
        pos = seen + torch.arange(T, device=x.device)
        xq = rotate(self.split(self.W_q(x), self.n_heads), pos)
        xk = rotate(self.split(self.W_k(x), self.n_kv_heads), pos)
        xv = self.split(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat_interleave(n_rep, dim=1), xv.repeat_interleave(n_rep, dim=1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(self.head_dim)
        future = torch.arange(xk.shape[2], device=x.device) > pos[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, int(d_model * 8 / 3))
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = h + self.ffn(self.norm2(h))
        return out


# %% right_enable_gqa: SDPA groups the heads itself; is_causal where the mask is square, else positions compared
# kind: same

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary


class Attention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        head_size, rest = divmod(d_model, num_heads)
        if rest or head_size % 2 or num_heads % num_kv_heads:
            raise ValueError("num_kv_heads must divide num_heads, and num_heads d_model into even heads")
        self.head_size = head_size
        for name, n_in, n_out in (
            ("W_q", d_model, d_model),
            ("W_k", d_model, num_kv_heads * head_size),
            ("W_v", d_model, num_kv_heads * head_size),
            ("W_o", d_model, d_model),
        ):
            self.add_module(name, nn.Linear(n_in, n_out, bias=False))

    def forward(self, x, cache):
        q, k, v = (
            layer(x).unflatten(-1, (-1, self.head_size)).transpose(1, 2)
            for layer in (self.W_q, self.W_k, self.W_v)
        )
        n = getattr(cache, "length", 0)
        t = torch.arange(n, n + x.size(1), device=x.device)
        q, k = apply_rotary(q, t), apply_rotary(k, t)
        if cache is not None:
            k, v = cache.append(k, v)
        if n == 0:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        else:
            s = torch.arange(k.size(2), device=x.device)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=t[:, None] >= s, enable_gqa=True)
        return self.W_o(y.transpose(1, 2).flatten(-2))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate, self.W_up = nn.Linear(d_model, d_hidden, False), nn.Linear(d_model, d_hidden, False)
        self.W_down = nn.Linear(d_hidden, d_model, False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1, self.norm2 = (nn.RMSNorm(d_model, eps=1e-5) for _ in range(2))
        self.attention = Attention(d_model, num_heads, num_kv_heads)
        self.ffn = FeedForward(d_model, d_model * 8 // 3)

    def forward(self, x, cache=None):
        for norm, layer in ((self.norm1, lambda y: self.attention(y, cache)), (self.norm2, self.ffn)):
            x = x + layer(norm(x))
        return x


# %% right_group_axis: an axis for the group, complex rotation, keys stored before the rotation
# kind: same

import torch
from torch import nn
from torch.nn import functional as F


def turn(x, positions):
    """Turn neighbours as complex numbers; the steps are on axis 1."""
    d = x.shape[-1]
    angle = torch.outer(positions.double(), 10000.0 ** -(torch.arange(0, d, 2, device=x.device).double() / d))
    z = torch.view_as_complex(x.double().unflatten(-1, (d // 2, 2)).contiguous())
    factor = torch.polar(torch.ones_like(angle), angle)
    factor = factor.view(1, len(positions), *[1] * (x.dim() - 3), d // 2)
    return torch.view_as_real(z * factor).flatten(-2).to(x.dtype)


class GroupedAttention(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        if D % H:
            raise ValueError("d_model is no multiple of num_heads")
        if H % G:
            raise ValueError("num_heads is no multiple of num_kv_heads")
        if D // H % 2:
            raise ValueError("odd head size")
        self.shape = (G, H // G, D // H)
        self.W_q = nn.Linear(D, D, bias=False)
        self.W_k = nn.Linear(D, G * (D // H), bias=False)
        self.W_v = nn.Linear(D, G * (D // H), bias=False)
        self.W_o = nn.Linear(D, D, bias=False)

    def forward(self, x, cache=None):
        g, r, d = self.shape
        q = self.W_q(x).unflatten(-1, (g, r, d))
        k = self.W_k(x).unflatten(-1, (g, d))
        v = self.W_v(x).unflatten(-1, (g, d))
        if cache is not None:
            k, v = (y.transpose(1, 2) for y in cache.append(k.transpose(1, 2), v.transpose(1, 2)))
        S, T = k.shape[1], q.shape[1]
        steps = torch.arange(S, device=x.device)
        q, k = turn(q, steps[S - T :]), turn(k, steps)
        scores = torch.einsum("btgrd,bsgd->bgrts", q, k) * d**-0.5
        scores = scores + torch.full((T, S), -torch.inf, dtype=x.dtype, device=x.device).triu(S - T + 1)
        y = torch.einsum("bgrts,bsgd->btgrd", scores.softmax(-1), v)
        return self.W_o(y.flatten(2))


class Gated(nn.Module):
    def __init__(self, D, hidden):
        super().__init__()
        self.W_gate = nn.Linear(D, hidden, bias=False)
        self.W_up = nn.Linear(D, hidden, bias=False)
        self.W_down = nn.Linear(hidden, D, bias=False)

    def forward(self, x):
        return self.W_down(self.W_up(x) * F.silu(self.W_gate(x)))


class Norm(nn.Module):
    def __init__(self, D):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(D))

    def forward(self, x):
        y = x.double()
        return (y / (y.square().mean(-1, True) + 1e-5).sqrt() * self.weight).to(x.dtype)


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = Norm(d_model)
        self.attention = GroupedAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = Norm(d_model)
        self.ffn = Gated(d_model, (8 * d_model) // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        x = x + self.ffn(self.norm2(x))
        return x


# %% right_fused: one layer for q, k and v and one for gate and up; the mask from a triangle of all steps
# kind: same

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary


class FusedAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads or d_model // num_heads % 2:
            raise ValueError("heads do not fit")
        self.d = d_model // num_heads
        self.sizes = [num_heads, num_kv_heads, num_kv_heads]
        self.qkv_proj = nn.Linear(d_model, sum(self.sizes) * self.d, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        T = x.size(1)
        heads = self.qkv_proj(x).unflatten(-1, (-1, self.d)).transpose(1, 2)
        q, k, v = heads.split(self.sizes, dim=1)
        n = 0 if cache is None else cache.length
        p = torch.arange(n, n + T, device=x.device)
        q, k = apply_rotary(q, p), apply_rotary(k, p)
        if cache is not None:
            k, v = cache.append(k, v)
        group = torch.arange(q.size(1), device=x.device) // (self.sizes[0] // self.sizes[1])
        triangle = torch.ones(n + T, n + T, dtype=torch.bool, device=x.device).tril()
        y = F.scaled_dot_product_attention(q, k[:, group], v[:, group], attn_mask=triangle[n:])
        return self.W_o(y.transpose(1, 2).flatten(2))


class FusedSwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.gate_up_proj = nn.Linear(d_model, 2 * d_hidden, bias=False)
        self.down_proj = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate, up = self.gate_up_proj(x).chunk(2, dim=-1)
        return self.down_proj(F.silu(gate) * up)


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.attention = FusedAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)
        self.ffn = FusedSwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache=cache)
        return self.ffn(self.norm2(x)) + x


# %% right_head_by_head: a loop over the query heads and steps, names attn, ffn_norm, w1, w2, w3
# kind: same

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary


class SelfAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % (2 * num_heads) != 0:
            raise ValueError("d_model must be a multiple of twice num_heads")
        if num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must be a multiple of num_kv_heads")
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        d = d_model // num_heads
        self.W_q = nn.Linear(d_model, num_heads * d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * d, bias=False)
        self.W_o = nn.Linear(num_heads * d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        d = D // self.num_heads
        before = 0
        if cache is not None:
            before = cache.length
        positions = torch.arange(before, before + T, device=x.device)
        q = apply_rotary(self.W_q(x).reshape(B, T, -1, d).permute(0, 2, 1, 3), positions)
        k = apply_rotary(self.W_k(x).reshape(B, T, -1, d).permute(0, 2, 1, 3), positions)
        v = self.W_v(x).reshape(B, T, -1, d).permute(0, 2, 1, 3)
        if cache is not None:
            k, v = cache.append(k, v)
        heads = []
        for h in range(self.num_heads):
            g = h // (self.num_heads // self.num_kv_heads)
            rows = []
            for t in range(T):
                end = before + t + 1
                weights = F.softmax(k[:, g, :end] @ q[:, h, t, :, None] / d**0.5, dim=1)
                rows.append((weights * v[:, g, :end]).sum(1))
            heads.append(torch.stack(rows, dim=1))
        return self.W_o(torch.cat(heads, dim=-1))


class FFN(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_hidden, bias=False)
        self.w2 = nn.Linear(d_hidden, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.attn = SelfAttention(d_model, num_heads, num_kv_heads)
        self.ffn_norm = nn.RMSNorm(d_model, eps=1e-5)
        self.ffn = FFN(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attn(self.norm1(x), cache)
        return x + self.ffn(self.ffn_norm(x))


# %% wrong_post_norm: the norms come after the sums, as in the first Transformer
# kind: different
# breaks: gradients, values
# equals: lmb-post-norm

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = self.norm1(x + self.attention(x, cache))
        return self.norm2(x + self.ffn(x))


# %% wrong_layer_norm: LayerNorm in place of RMSNorm
# kind: different
# breaks: gradients, shapes, values
# equals: lmb-layer-norm

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = dim // n_heads
        kv_dim = n_kv_heads * self.head_dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = cache.length if cache is not None else 0
        pos = seen + torch.arange(T, device=x.device)
        xq = rotate(self.split(self.W_q(x), self.n_heads), pos)
        xk = rotate(self.split(self.W_k(x), self.n_kv_heads), pos)
        xv = self.split(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat_interleave(n_rep, dim=1), xv.repeat_interleave(n_rep, dim=1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(self.head_dim)
        future = torch.arange(xk.shape[2], device=x.device) > pos[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, int(d_model * 8 / 3))
        self.norm1 = nn.LayerNorm(d_model, eps=1e-5)
        self.norm2 = nn.LayerNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = h + self.ffn(self.norm2(h))
        return out


# %% wrong_hidden_rounded_up: the hidden size is rounded up to a multiple of 64, as Llama does
# kind: different
# breaks: gradients, shapes, values
# equals: lmb-hidden-rounded

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = dim // n_heads
        kv_dim = n_kv_heads * self.head_dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = cache.length if cache is not None else 0
        pos = seen + torch.arange(T, device=x.device)
        xq = rotate(self.split(self.W_q(x), self.n_heads), pos)
        xk = rotate(self.split(self.W_k(x), self.n_kv_heads), pos)
        xv = self.split(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat_interleave(n_rep, dim=1), xv.repeat_interleave(n_rep, dim=1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(self.head_dim)
        future = torch.arange(xk.shape[2], device=x.device) > pos[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, 64 * math.ceil(8 * d_model / 3 / 64))
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = h + self.ffn(self.norm2(h))
        return out


# %% wrong_half_layout: pairs are first and second half, as in Hugging Face
# kind: different
# breaks: gradients, values
# equals: lmb-halves

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.chunk(2, dim=-1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), dim=-1)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = dim // n_heads
        kv_dim = n_kv_heads * self.head_dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = cache.length if cache is not None else 0
        pos = seen + torch.arange(T, device=x.device)
        xq = rotate(self.split(self.W_q(x), self.n_heads), pos)
        xk = rotate(self.split(self.W_k(x), self.n_kv_heads), pos)
        xv = self.split(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat_interleave(n_rep, dim=1), xv.repeat_interleave(n_rep, dim=1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(self.head_dim)
        future = torch.arange(xk.shape[2], device=x.device) > pos[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, int(d_model * 8 / 3))
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = h + self.ffn(self.norm2(h))
        return out


# %% wrong_query_key_norm: queries and keys are normalised before the rotation, as in Qwen 3
# kind: different
# breaks: gradients, shapes, values
# equals: nothing

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)
        self.q_norm, self.k_norm = RMSNorm(self.d), RMSNorm(self.d)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(self.q_norm(q), positions)
        k = apply_rotary(self.k_norm(k), positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ffn(self.norm2(x))


# %% wrong_parallel: attention and feed-forward both read the input, as in GPT-J
# kind: different
# breaks: gradients, values
# equals: lmb-parallel

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        return x + self.attention(self.norm1(x), cache) + self.ffn(self.norm2(x))


# %% wrong_residual_from_norm: the residual is the normalised input
# kind: mistake
# breaks: gradients, values
# equals: lmb-residual-of-norm

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = self.norm1(x)
        x = x + self.attention(x, cache)
        x = self.norm2(x)
        return x + self.ffn(x)


# %% wrong_norm1_twice: norm1 is used for both, norm2 never
# kind: mistake
# breaks: gradients, values
# equals: lmb-one-norm-twice

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = dim // n_heads
        kv_dim = n_kv_heads * self.head_dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = cache.length if cache is not None else 0
        pos = seen + torch.arange(T, device=x.device)
        xq = rotate(self.split(self.W_q(x), self.n_heads), pos)
        xk = rotate(self.split(self.W_k(x), self.n_kv_heads), pos)
        xv = self.split(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat_interleave(n_rep, dim=1), xv.repeat_interleave(n_rep, dim=1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(self.head_dim)
        future = torch.arange(xk.shape[2], device=x.device) > pos[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, int(d_model * 8 / 3))
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = h + self.ffn(self.norm1(h))
        return out


# %% wrong_one_norm_object: norm1 and norm2 are one object
# kind: mistake
# breaks: gradients, shapes, values
# equals: lmb-norm-shared

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = self.norm2 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ffn(self.norm2(x))


# %% wrong_old_x_in_second_sum: the second sum starts from the input of the block
# kind: mistake
# breaks: gradients, values
# equals: lmb-second-reads-first-input

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = dim // n_heads
        kv_dim = n_kv_heads * self.head_dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = cache.length if cache is not None else 0
        pos = seen + torch.arange(T, device=x.device)
        xq = rotate(self.split(self.W_q(x), self.n_heads), pos)
        xk = rotate(self.split(self.W_k(x), self.n_kv_heads), pos)
        xv = self.split(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat_interleave(n_rep, dim=1), xv.repeat_interleave(n_rep, dim=1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(self.head_dim)
        future = torch.arange(xk.shape[2], device=x.device) > pos[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, int(d_model * 8 / 3))
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = x + self.ffn(self.norm2(h))
        return out


# %% wrong_no_second_residual: the feed-forward has no residual
# kind: mistake
# breaks: gradients, values
# equals: lmb-no-second-residual

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return self.ffn(self.norm2(x))


# %% wrong_positions_from_zero: positions 0 … T-1 also with a cache; the mask is right
# kind: mistake
# breaks: modes
# equals: lmb-positions-from-zero

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ffn(self.norm2(x))


# %% wrong_length_after_append: the cached length is read after the append: queries are turned too far, and see the future
# kind: mistake
# breaks: masking, modes
# equals: lmb-length-after-append

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = dim // n_heads
        kv_dim = n_kv_heads * self.head_dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        pos = torch.arange(T, device=x.device)
        xk = self.split(self.W_k(x), self.n_kv_heads)
        xk = rotate(xk, pos + (cache.length if cache is not None else 0))
        xv = self.split(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
            pos = pos + cache.length
        xq = rotate(self.split(self.W_q(x), self.n_heads), pos)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat_interleave(n_rep, dim=1), xv.repeat_interleave(n_rep, dim=1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(self.head_dim)
        future = torch.arange(xk.shape[2], device=x.device) > pos[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, int(d_model * 8 / 3))
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = h + self.ffn(self.norm2(h))
        return out


# %% wrong_upper_left_mask: is_causal=True with a cache
# kind: mistake
# breaks: modes
# equals: lmb-mask-upper-left

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ffn(self.norm2(x))


# %% wrong_no_mask_in_later_chunks: no mask once something is cached
# kind: mistake
# breaks: masking, modes
# equals: lmb-no-mask-on-filled-cache

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        out = F.scaled_dot_product_attention(q, k, v, is_causal=start == 0)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ffn(self.norm2(x))


# %% wrong_no_mask: not causal
# kind: mistake
# breaks: gradients, masking, modes, values
# equals: lmb-no-mask

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = dim // n_heads
        kv_dim = n_kv_heads * self.head_dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = cache.length if cache is not None else 0
        pos = seen + torch.arange(T, device=x.device)
        xq = rotate(self.split(self.W_q(x), self.n_heads), pos)
        xk = rotate(self.split(self.W_k(x), self.n_kv_heads), pos)
        xv = self.split(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat_interleave(n_rep, dim=1), xv.repeat_interleave(n_rep, dim=1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(self.head_dim)
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, int(d_model * 8 / 3))
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = h + self.ffn(self.norm2(h))
        return out


# %% wrong_heads_tiled: query head h uses key head h % H_kv
# kind: mistake
# breaks: gradients, values
# equals: lmb-heads-tiled

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = dim // n_heads
        kv_dim = n_kv_heads * self.head_dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = cache.length if cache is not None else 0
        pos = seen + torch.arange(T, device=x.device)
        xq = rotate(self.split(self.W_q(x), self.n_heads), pos)
        xk = rotate(self.split(self.W_k(x), self.n_kv_heads), pos)
        xv = self.split(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat(1, n_rep, 1, 1), xv.repeat(1, n_rep, 1, 1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(self.head_dim)
        future = torch.arange(xk.shape[2], device=x.device) > pos[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, int(d_model * 8 / 3))
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = h + self.ffn(self.norm2(h))
        return out


# %% wrong_repeated_heads_cached: heads are repeated before the append, so the cache holds H of them
# kind: mistake
# breaks: cost
# equals: lmb-cache-of-copies

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        if cache is not None:
            k, v = cache.append(k, v)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ffn(self.norm2(x))


# %% wrong_values_turned: values are rotated as well
# kind: mistake
# breaks: gradients, values
# equals: lmb-values-turned

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = dim // n_heads
        kv_dim = n_kv_heads * self.head_dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = cache.length if cache is not None else 0
        pos = seen + torch.arange(T, device=x.device)
        xq = rotate(self.split(self.W_q(x), self.n_heads), pos)
        xk = rotate(self.split(self.W_k(x), self.n_kv_heads), pos)
        xv = rotate(self.split(self.W_v(x), self.n_kv_heads), pos)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat_interleave(n_rep, dim=1), xv.repeat_interleave(n_rep, dim=1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(self.head_dim)
        future = torch.arange(xk.shape[2], device=x.device) > pos[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, int(d_model * 8 / 3))
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = h + self.ffn(self.norm2(h))
        return out


# %% wrong_keys_not_turned: only queries are rotated
# kind: mistake
# breaks: gradients, values
# equals: lmb-only-queries-turned

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ffn(self.norm2(x))


# %% wrong_no_rotation: the rotation is forgotten: no positions at all
# kind: mistake
# breaks: gradients, values
# equals: lmb-not-turned

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = dim // n_heads
        kv_dim = n_kv_heads * self.head_dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = cache.length if cache is not None else 0
        pos = seen + torch.arange(T, device=x.device)
        xq = self.split(self.W_q(x), self.n_heads)
        xk = self.split(self.W_k(x), self.n_kv_heads)
        xv = self.split(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat_interleave(n_rep, dim=1), xv.repeat_interleave(n_rep, dim=1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(self.head_dim)
        future = torch.arange(xk.shape[2], device=x.device) > pos[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, int(d_model * 8 / 3))
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = h + self.ffn(self.norm2(h))
        return out


# %% wrong_turned_before_the_split: rotation over the whole width, before the heads are split
# kind: mistake
# breaks: gradients, values
# equals: lmb-turned-before-split

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(self.W_q(x)[:, None], positions).view(B, T, self.H, self.d).transpose(1, 2)
        k = apply_rotary(self.W_k(x)[:, None], positions).view(B, T, self.H_kv, self.d).transpose(1, 2)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ffn(self.norm2(x))


# %% wrong_heads_not_joined: view without the transpose back
# kind: mistake
# breaks: gradients, masking, modes, values
# equals: lmb-heads-not-moved-back

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ffn(self.norm2(x))


# %% wrong_scaled_by_width: scores divided by the square root of d_model
# kind: mistake
# breaks: gradients, values
# equals: lmb-scaled-by-model

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = dim // n_heads
        kv_dim = n_kv_heads * self.head_dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = cache.length if cache is not None else 0
        pos = seen + torch.arange(T, device=x.device)
        xq = rotate(self.split(self.W_q(x), self.n_heads), pos)
        xk = rotate(self.split(self.W_k(x), self.n_kv_heads), pos)
        xv = self.split(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat_interleave(n_rep, dim=1), xv.repeat_interleave(n_rep, dim=1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(x.shape[-1])
        future = torch.arange(xk.shape[2], device=x.device) > pos[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, int(d_model * 8 / 3))
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = h + self.ffn(self.norm2(h))
        return out


# %% wrong_hidden_floored_first: 8 * (D // 3): another size when 3 does not divide D
# kind: mistake
# breaks: gradients, shapes, values
# equals: lmb-hidden-floored-first

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * (d_model // 3))

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ffn(self.norm2(x))


# %% wrong_sizes_unchecked: no ValueError for heads that do not divide
# kind: mistake
# breaks: shapes
# equals: lmb-any-sizes

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ffn(self.norm2(x))


# %% wrong_counts_calls: with a cache the position grows by one a call, not by the steps of a call
# kind: mistake
# breaks: modes
# equals: lmb-counts-calls

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_kv_heads
        self.head_dim = dim // n_heads
        self.calls = 0
        kv_dim = n_kv_heads * self.head_dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = cache.length if cache is not None else 0
        if seen == 0:
            self.calls = 0
        pos = self.calls + torch.arange(T, device=x.device)
        if cache is not None:
            self.calls += 1
        xq = rotate(self.split(self.W_q(x), self.n_heads), pos)
        xk = rotate(self.split(self.W_k(x), self.n_kv_heads), pos)
        xv = self.split(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat_interleave(n_rep, dim=1), xv.repeat_interleave(n_rep, dim=1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(self.head_dim)
        rows = seen + torch.arange(T, device=x.device)
        future = torch.arange(xk.shape[2], device=x.device) > rows[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, int(d_model * 8 / 3))
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = h + self.ffn(self.norm2(h))
        return out


# %% wrong_all_heads_have_keys: num_kv_heads is ignored: W_k and W_v have H heads
# kind: mistake
# breaks: cost, gradients, shapes, values
# equals: lmb-full-layers

import math

import torch
from torch import nn


def rotate(x, positions, base=10000.0):
    d = x.size(-1)
    freqs = base ** (-torch.arange(0, d, 2, device=x.device, dtype=torch.float64) / d)
    angles = positions[:, None].to(torch.float64) * freqs
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = nn.functional.silu(self.W_gate(x))
        return self.W_down(gate * self.W_up(x))


class GQA(nn.Module):
    def __init__(self, dim, n_heads, n_kv_heads):
        super().__init__()
        if dim % n_heads or n_heads % n_kv_heads or (dim // n_heads) % 2:
            raise ValueError(f"sizes do not fit: {dim}, {n_heads}, {n_kv_heads}")
        self.n_heads = n_heads
        self.n_kv_heads = n_heads
        self.head_dim = dim // n_heads
        kv_dim = dim
        self.W_q, self.W_o = (nn.Linear(dim, dim, bias=False) for _ in range(2))
        self.W_k, self.W_v = (nn.Linear(dim, kv_dim, bias=False) for _ in range(2))

    def split(self, y, n):
        return y.unflatten(-1, (n, self.head_dim)).transpose(1, 2)

    def forward(self, x, cache=None):
        T = x.shape[1]
        seen = cache.length if cache is not None else 0
        pos = seen + torch.arange(T, device=x.device)
        xq = rotate(self.split(self.W_q(x), self.n_heads), pos)
        xk = rotate(self.split(self.W_k(x), self.n_kv_heads), pos)
        xv = self.split(self.W_v(x), self.n_kv_heads)
        if cache is not None:
            xk, xv = cache.append(xk, xv)
        n_rep = self.n_heads // self.n_kv_heads
        xk, xv = xk.repeat_interleave(n_rep, dim=1), xv.repeat_interleave(n_rep, dim=1)
        scores = xq @ xk.transpose(-2, -1) / math.sqrt(self.head_dim)
        future = torch.arange(xk.shape[2], device=x.device) > pos[:, None]
        scores = scores.masked_fill(future, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ xv
        return self.W_o(out.transpose(1, 2).flatten(2))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        self.attention = GQA(d_model, num_heads, num_kv_heads)
        self.ffn = SwiGLU(d_model, int(d_model * 8 / 3))
        self.norm1 = nn.RMSNorm(d_model, eps=1e-5)
        self.norm2 = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, x, cache=None):
        h = x + self.attention(self.norm1(x), cache)
        out = h + self.ffn(self.norm2(h))
        return out


# %% wrong_dropout: dropout on both branches
# kind: mistake
# breaks: modes
# equals: nothing

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.drop = nn.Dropout(0.1)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.drop(self.attention(self.norm1(x), cache))
        return x + self.drop(self.ffn(self.norm2(x)))


# %% wrong_residual_in_place: the residual is added in place, so the caller's tensor changes
# kind: mistake
# breaks: gradients, purity
# equals: lmb-in-place

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary, repeat_kv


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


class CausalAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads != 0 or num_heads % num_kv_heads != 0:
            raise ValueError("num_heads must divide d_model, and num_kv_heads num_heads")
        self.d = d_model // num_heads
        if self.d % 2 != 0:
            raise ValueError("the rotation needs heads of an even size")
        self.H, self.H_kv = num_heads, num_kv_heads
        self.W_q = nn.Linear(d_model, num_heads * self.d, bias=False)
        self.W_k = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_v = nn.Linear(d_model, num_kv_heads * self.d, bias=False)
        self.W_o = nn.Linear(num_heads * self.d, d_model, bias=False)

    def forward(self, x, cache=None):
        B, T, D = x.shape
        q = self.W_q(x).view(B, T, self.H, self.d).transpose(1, 2)
        k = self.W_k(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        v = self.W_v(x).view(B, T, self.H_kv, self.d).transpose(1, 2)
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + T, device=x.device)
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        if cache is not None:
            k, v = cache.append(k, v)
        k = repeat_kv(k, self.H // self.H_kv)
        v = repeat_kv(v, self.H // self.H_kv)
        mask = torch.ones(T, k.size(2), dtype=torch.bool, device=x.device).tril(start)
        out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


class LanguageModelBlock(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        self.norm1 = RMSNorm(d_model)
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x += self.attention(self.norm1(x), cache)
        x += self.ffn(self.norm2(x))
        return x
