"""A block of a language model: attention with grouped heads and rotary positions, then a feed-forward network."""

import torch
from torch import nn

from grader.given import KVCache, RMSNorm, SwiGLU, apply_rotary

__all__ = ["LanguageModelBlock"]


class LanguageModelBlock(nn.Module):
    """x + attention(norm1(x)), then x + ffn(norm2(x)); the steps before may be in a cache."""

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int):
        super().__init__()
        d, odd = divmod(d_model, num_heads)
        if odd or d % 2 or num_heads % num_kv_heads:
            raise ValueError(f"{d_model} features, {num_heads} heads and {num_kv_heads} key heads do not fit")
        self.groups = (num_heads, d), (num_kv_heads, d), (num_kv_heads, d)
        sizes = {"W_q": d_model, "W_k": num_kv_heads * d, "W_v": num_kv_heads * d, "W_o": d_model}
        self.attention = nn.ModuleDict({name: nn.Linear(d_model, n, bias=False) for name, n in sizes.items()})
        self.norm1, self.norm2 = RMSNorm(d_model), RMSNorm(d_model)
        self.ffn = SwiGLU(d_model, 8 * d_model // 3)

    def forward(self, x: torch.Tensor, cache: KVCache | None = None) -> torch.Tensor:
        """Return (B, T, D) for the new steps x (B, T, D), which are appended to the cache."""
        w_q, w_k, w_v, w_o = self.attention.values()
        begin = 0 if cache is None else cache.length
        own = torch.arange(begin, begin + x.size(1), device=x.device)
        normed = self.norm1(x)
        pairs = zip((w_q, w_k, w_v), self.groups, strict=True)
        q, k, v = (layer(normed).unflatten(-1, group).transpose(1, 2) for layer, group in pairs)
        q, k = apply_rotary(q, own), apply_rotary(k, own)
        if cache is not None:
            k, v = cache.append(k, v)
        visible = torch.arange(k.size(2), device=x.device) <= own.unsqueeze(-1)  # (T, S)
        out = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=visible, enable_gqa=True)
        x = x + w_o(out.transpose(1, 2).flatten(2))
        return x + self.ffn(self.norm2(x))
