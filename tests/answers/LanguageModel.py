# %% right_f_linear: logits by F.linear, only the embedding gets another start
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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return F.linear(self.norm(x), self.embedding.weight)


# %% right_gpt2_start: normal weights of deviation 0.02 everywhere, logits by a matrix product
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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, caches=None):
        if caches is None:
            caches = [None] * self.num_layers
        past = max((c.length for c in caches if c is not None), default=0)
        if past + tokens.shape[1] > self.max_len:
            raise ValueError("sequence longer than max_len")
        h = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches):
            h = block(h, cache)
        h = self.norm(h)
        return h @ self.embedding.weight.T


# %% right_lm_head_shares: a Linear without bias whose weight is the embedding's; outputs into the residual stream start smaller
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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        self.lm_head.weight = self.embedding.weight
        for name, p in self.named_parameters():
            if p.dim() == 2:
                small = name.endswith(("W_o.weight", "W_down.weight"))
                nn.init.normal_(p, std=0.02 / (2 * num_layers) ** 0.5 if small else 0.02)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return self.lm_head(self.norm(x))


# %% right_own_table: a small module with the matrix, indexed by the tokens; einsum for the logits; uniform start
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


class Table(nn.Module):
    def __init__(self, n, d):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n, d).uniform_(-0.03, 0.03))

    def forward(self, i):
        return self.weight[i]


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = Table(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, tokens, caches=None):
        if caches is None:
            caches = [None] * self.num_layers
        past = max((c.length for c in caches if c is not None), default=0)
        if past + tokens.shape[1] > self.max_len:
            raise ValueError("sequence longer than max_len")
        h = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches):
            h = block(h, cache)
        h = self.norm(h)
        return torch.einsum("btd,vd->btv", h, self.embedding.weight)


# %% right_gpt_names: class GPT with wte, ln_f and lm_head; truncated normal weights; branches that start at zero
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


class GPT(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.wte = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.ln_f = RMSNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        nn.init.trunc_normal_(self.lm_head.weight, std=0.02, a=-0.06, b=0.06)
        self.wte.weight = self.lm_head.weight
        for block in self.blocks:
            nn.init.zeros_(block.attention.W_o.weight)
            nn.init.zeros_(block.ffn.W_down.weight)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.wte(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return self.lm_head(self.ln_f(x))


# %% right_everything_in_one_loop: the model walks through its blocks' layers itself; SDPA with enable_gqa; F.rms_norm
# kind: same

import itertools

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary


class Attention(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        d = D // H
        self.W_q = nn.Linear(D, D, bias=False)
        self.W_k = nn.Linear(D, G * d, bias=False)
        self.W_v = nn.Linear(D, G * d, bias=False)
        self.W_o = nn.Linear(D, D, bias=False)


class FFN(nn.Module):
    def __init__(self, D, hidden):
        super().__init__()
        self.W_gate = nn.Linear(D, hidden, bias=False)
        self.W_up = nn.Linear(D, hidden, bias=False)
        self.W_down = nn.Linear(hidden, D, bias=False)


class Block(nn.Module):
    def __init__(self, D, H, G):
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(D, eps=1e-5), nn.RMSNorm(D, eps=1e-5)
        self.attention = Attention(D, H, G)
        self.ffn = FFN(D, 8 * D // 3)


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads or (d_model // num_heads) & 1:
            raise ValueError("these heads do not fit")
        self.d = d_model // num_heads
        self.num_layers = num_layers
        self.max_len = max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.embedding.weight.data.mul_(1 / d_model)
        self.blocks = nn.ModuleList(Block(d_model, num_heads, num_kv_heads) for _ in range(num_layers))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)

    def forward(self, tokens, caches=None):
        T = tokens.size(1)
        n = caches[0].length if caches else 0
        if n + T > self.max_len:
            raise ValueError("too long")
        p = torch.arange(n, n + T, device=tokens.device)
        mask = torch.arange(n + T, device=tokens.device) <= p[:, None]
        x = self.embedding(tokens)
        for block, cache in itertools.zip_longest(self.blocks, caches or ()):
            a, f = block.attention, block.ffn
            y = block.norm1(x)
            q, k, v = (W(y).unflatten(-1, (-1, self.d)).transpose(1, 2) for W in (a.W_q, a.W_k, a.W_v))
            q, k = apply_rotary(q, p), apply_rotary(k, p)
            if cache is not None:
                k, v = cache.append(k, v)
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)
            x = x + a.W_o(y.transpose(1, 2).flatten(2))
            y = block.norm2(x)
            x = x + f.W_down(F.silu(f.W_gate(y)) * f.W_up(y))
        return self.norm(x) @ self.embedding.weight.mT


# %% wrong_untied: a head with weights of its own
# kind: different
# breaks: gradients, shapes, values
# equals: lm-own-head

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        nn.init.normal_(self.lm_head.weight, std=0.02)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return self.lm_head(self.norm(x))


# %% wrong_tied_by_copy: the head starts as a copy of the embedding, but is a tensor of its own
# kind: mistake
# breaks: gradients, shapes, values
# equals: lm-own-head

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)
        self.lm_head = nn.Linear(d_model, vocab_size, bias=False)
        self.lm_head.weight.data.copy_(self.embedding.weight.data)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return self.lm_head(self.norm(x))


# %% wrong_head_detached: the embedding's matrix is detached for the logits
# kind: mistake
# breaks: gradients
# equals: lm-head-detached

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, caches=None):
        if caches is None:
            caches = [None] * self.num_layers
        past = max((c.length for c in caches if c is not None), default=0)
        if past + tokens.shape[1] > self.max_len:
            raise ValueError("sequence longer than max_len")
        h = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches):
            h = block(h, cache)
        h = self.norm(h)
        return h @ self.embedding.weight.data.T


# %% wrong_padding_row: padding_idx=0: token 0 never gets a gradient from the lookup
# kind: mistake
# breaks: gradients
# equals: lm-padding

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=0)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return F.linear(self.norm(x), self.embedding.weight)


# %% wrong_default_start: the embedding starts with deviation 1, as PyTorch makes it
# kind: mistake
# breaks: values
# equals: lm-start-default

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return F.linear(self.norm(x), self.embedding.weight)


# %% wrong_start_by_width: the embedding starts with deviation D^-0.5
# kind: mistake
# breaks: values
# equals: lm-start-root

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return F.linear(self.norm(x), self.embedding.weight)


# %% wrong_no_final_norm: the last norm is made and never used
# kind: mistake
# breaks: gradients, values
# equals: lm-no-final-norm

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, caches=None):
        if caches is None:
            caches = [None] * self.num_layers
        past = max((c.length for c in caches if c is not None), default=0)
        if past + tokens.shape[1] > self.max_len:
            raise ValueError("sequence longer than max_len")
        h = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches):
            h = block(h, cache)
        return h @ self.embedding.weight.T


# %% wrong_one_block_repeated: [block] * num_layers
# kind: mistake
# breaks: gradients, shapes, values
# equals: lm-one-block

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads)] * num_layers
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return F.linear(self.norm(x), self.embedding.weight)


# %% wrong_first_cache_for_all: every block gets the first cache
# kind: mistake
# breaks: cost, modes
# equals: lm-one-cache

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[0])
        return F.linear(self.norm(x), self.embedding.weight)


# %% wrong_caches_not_passed_on: caches only count the length; the blocks never see them
# kind: mistake
# breaks: modes, shapes
# equals: lm-caches-not-passed

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, caches=None):
        if caches is None:
            caches = [None] * self.num_layers
        past = max((c.length for c in caches if c is not None), default=0)
        if past + tokens.shape[1] > self.max_len:
            raise ValueError("sequence longer than max_len")
        h = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches):
            h = block(h)
        h = self.norm(h)
        return h @ self.embedding.weight.T


# %% wrong_zip_with_nothing: without caches zip stops at once, and no block runs
# kind: mistake
# breaks: gradients, modes, values
# equals: lm-no-blocks-without-caches

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, caches=None):
        caches = caches or []
        past = max((c.length for c in caches if c is not None), default=0)
        if past + tokens.shape[1] > self.max_len:
            raise ValueError("sequence longer than max_len")
        h = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches):
            h = block(h, cache)
        h = self.norm(h)
        return h @ self.embedding.weight.T


# %% wrong_embedding_scaled: embedding times the root of D
# kind: different
# breaks: gradients, values
# equals: lm-embedding-scaled

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, caches=None):
        if caches is None:
            caches = [None] * self.num_layers
        past = max((c.length for c in caches if c is not None), default=0)
        if past + tokens.shape[1] > self.max_len:
            raise ValueError("sequence longer than max_len")
        h = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)
        for block, cache in zip(self.blocks, caches):
            h = block(h, cache)
        h = self.norm(h)
        return h @ self.embedding.weight.T


# %% wrong_logits_scaled: logits divided by the root of D
# kind: mistake
# breaks: gradients, values
# equals: lm-logits-scaled

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return F.linear(self.norm(x), self.embedding.weight) / x.size(-1) ** 0.5


# %% wrong_cached_length_not_counted: only the new steps are compared with max_len
# kind: mistake
# breaks: shapes
# equals: lm-length-of-call

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        if tokens.size(1) > self.max_len:
            raise ValueError(f"{tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return F.linear(self.norm(x), self.embedding.weight)


# %% wrong_one_step_too_few: exactly max_len steps are refused already
# kind: mistake
# breaks: modes
# equals: lm-length-one-less

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, caches=None):
        if caches is None:
            caches = [None] * self.num_layers
        past = max((c.length for c in caches if c is not None), default=0)
        if past + tokens.shape[1] >= self.max_len:
            raise ValueError("sequence longer than max_len")
        h = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches):
            h = block(h, cache)
        h = self.norm(h)
        return h @ self.embedding.weight.T


# %% wrong_cut_to_max_len: a sequence that is too long is cut to its last max_len tokens
# kind: mistake
# breaks: shapes
# equals: lm-any-length

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        tokens = tokens[:, -self.max_len :]
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return F.linear(self.norm(x), self.embedding.weight)


# %% wrong_assert: too long is an AssertionError
# kind: mistake
# breaks: shapes
# equals: lm-assertion

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, caches=None):
        if caches is None:
            caches = [None] * self.num_layers
        past = max((c.length for c in caches if c is not None), default=0)
        assert past + tokens.shape[1] <= self.max_len, "sequence longer than max_len"
        h = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches):
            h = block(h, cache)
        h = self.norm(h)
        return h @ self.embedding.weight.T


# %% wrong_last_step_only: logits of the last step only
# kind: mistake
# breaks: gradients, masking, modes, shapes, values
# equals: lm-last-only

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, caches=None):
        if caches is None:
            caches = [None] * self.num_layers
        past = max((c.length for c in caches if c is not None), default=0)
        if past + tokens.shape[1] > self.max_len:
            raise ValueError("sequence longer than max_len")
        h = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches):
            h = block(h, cache)
        h = self.norm(h[:, -1:])
        return h @ self.embedding.weight.T


# %% wrong_log_softmax: log-probabilities instead of logits
# kind: mistake
# breaks: gradients, values
# equals: lm-log-probabilities

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return F.log_softmax(F.linear(self.norm(x), self.embedding.weight), dim=-1)


# %% wrong_blocks_in_a_list: a Python list of blocks: no parameters, nothing learned
# kind: mistake
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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return F.linear(self.norm(x), self.embedding.weight)


# %% wrong_learned_positions: a learned vector is added for each position as well
# kind: mistake
# breaks: gradients, modes, shapes, values
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
        self.attention = CausalAttention(d_model, num_heads, num_kv_heads)
        self.norm2 = RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x, cache=None):
        x = x + self.attention(self.norm1(x), cache)
        return x + self.ffn(self.norm2(x))


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.positions = nn.Parameter(0.02 * torch.randn(max_len, d_model))
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens) + self.positions[: tokens.size(1)]
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return F.linear(self.norm(x), self.embedding.weight)


# %% wrong_residual_around_blocks: x + block(x), though the block adds already
# kind: mistake
# breaks: gradients, values
# equals: lm-residual-around-blocks

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, caches=None):
        if caches is None:
            caches = [None] * self.num_layers
        past = max((c.length for c in caches if c is not None), default=0)
        if past + tokens.shape[1] > self.max_len:
            raise ValueError("sequence longer than max_len")
        h = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches):
            h = h + block(h, cache)
        h = self.norm(h)
        return h @ self.embedding.weight.T


# %% wrong_norm_in_front: the last norm is applied to the embedding as well
# kind: mistake
# breaks: gradients, values
# equals: lm-norm-in-front-too

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.norm(self.embedding(tokens))
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return F.linear(self.norm(x), self.embedding.weight)


# %% wrong_final_layer_norm: LayerNorm at the end
# kind: different
# breaks: gradients, shapes, values
# equals: lm-layer-norm

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.LayerNorm(d_model)
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, caches=None):
        if caches is None:
            caches = [None] * self.num_layers
        past = max((c.length for c in caches if c is not None), default=0)
        if past + tokens.shape[1] > self.max_len:
            raise ValueError("sequence longer than max_len")
        h = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches):
            h = block(h, cache)
        h = self.norm(h)
        return h @ self.embedding.weight.T


# %% wrong_own_caches_kept: without caches the model fills caches of its own and keeps them for the next call
# kind: mistake
# breaks: purity, values
# equals: lm-own-caches-kept

import math

import torch
from torch import nn

from grader.given import KVCache


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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)
        self.apply(self._init_weights)
        self.caches = [KVCache(max_len) for _ in range(num_layers)]

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, caches=None):
        if caches is None:
            caches = self.caches
        past = max((c.length for c in caches if c is not None), default=0)
        if past + tokens.shape[1] > self.max_len:
            raise ValueError("sequence longer than max_len")
        h = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches):
            h = block(h, cache)
        h = self.norm(h)
        return h @ self.embedding.weight.T


# %% wrong_key_heads_forgotten: num_kv_heads is not passed on: every head gets keys of its own
# kind: mistake
# breaks: cost, gradients, shapes, values
# equals: lm-key-heads-not-passed

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.blocks = nn.ModuleList(
            [LanguageModelBlock(d_model, num_heads, num_heads) for _ in range(num_layers)]
        )
        self.norm = RMSNorm(d_model)

    def forward(self, tokens, caches=None):
        seen = 0 if caches is None else caches[0].length
        if seen + tokens.size(1) > self.max_len:
            raise ValueError(f"{seen} + {tokens.size(1)} steps, but there is room for {self.max_len}")
        x = self.embedding(tokens)
        for i, block in enumerate(self.blocks):
            x = block(x, None if caches is None else caches[i])
        return F.linear(self.norm(x), self.embedding.weight)


# %% wrong_head_bias: a bias on the logits
# kind: mistake
# breaks: purity, values
# equals: lm-head-bias

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


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, num_kv_heads, num_layers, max_len):
        super().__init__()
        self.max_len = max_len
        self.num_layers = num_layers
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList()
        for _ in range(num_layers):
            self.blocks.append(LanguageModelBlock(d_model, num_heads, num_kv_heads))
        self.norm = nn.RMSNorm(d_model, eps=1e-5)
        self.head_bias = nn.Parameter(torch.zeros(vocab_size))
        self.apply(self._init_weights)

    def _init_weights(self, module):
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, mean=0.0, std=0.02)

    def forward(self, tokens, caches=None):
        if caches is None:
            caches = [None] * self.num_layers
        past = max((c.length for c in caches if c is not None), default=0)
        if past + tokens.shape[1] > self.max_len:
            raise ValueError("sequence longer than max_len")
        h = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches):
            h = block(h, cache)
        h = self.norm(h)
        return h @ self.embedding.weight.T + self.head_bias
