"""A vector for every token, and none to learn for padding."""

from torch import nn

__all__ = ["TokenEmbedding"]


class TokenEmbedding(nn.Embedding):
    """Tokens (B, T) → vectors (B, T, d_model); token 1 is padding: zeros at first, and no gradient."""

    def __init__(self, vocab_size: int, d_model: int):
        super().__init__(vocab_size, d_model, padding_idx=1)
