"""A small language model, with one matrix for the tokens that it reads and for those that it writes."""

from collections.abc import Sequence

import torch
from torch import nn

from grader.given import KVCache, LanguageModelBlock, RMSNorm

__all__ = ["LanguageModel"]


class LanguageModel(nn.Module):
    """Tokens (B, T) to logits (B, T, V) for the token after each."""

    def __init__(
        self, vocab_size: int, d_model: int, num_heads: int, num_kv_heads: int, num_layers: int, max_len: int
    ):
        super().__init__()
        self.num_layers, self.max_len = num_layers, max_len
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        blocks = [LanguageModelBlock(d_model, num_heads, num_kv_heads) for _ in range(num_layers)]
        self.blocks, self.norm = nn.ModuleList(blocks), RMSNorm(d_model)

    def forward(self, tokens: torch.Tensor, caches: Sequence[KVCache] | None = None) -> torch.Tensor:
        """Return (B, T, V). `caches`: one per block; raises ValueError beyond `max_len` steps."""
        before = caches[0].length if caches else 0
        if before + tokens.size(1) > self.max_len:
            raise ValueError(f"the model is for {self.max_len} steps")
        x = self.embedding(tokens)
        for block, cache in zip(self.blocks, caches or [None] * self.num_layers, strict=True):
            x = block(x, cache)
        return self.norm(x) @ self.embedding.weight.t()
