"""An embedding whose padding row is not trained."""

from torch import nn

__all__ = ["TokenEmbedding"]


class TokenEmbedding(nn.Embedding):
    """Map tokens (B, T) to vectors (B, T, d_model).

    Token 1 is padding: its row starts as zeros and gets no gradient.
    """

    def __init__(self, vocab_size: int, d_model: int):
        super().__init__(vocab_size, d_model, padding_idx=1)
