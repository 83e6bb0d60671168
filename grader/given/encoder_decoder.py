"""An encoder that reads and a decoder that writes, as one model."""

import torch
from torch import nn

__all__ = ["EncoderDecoder"]


class EncoderDecoder(nn.Module):
    """An `encoder` from (B, S) to (B, S, D), and a `decoder` with `init_state(enc_outputs, enc_valid_lens)`."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def forward(
        self, src: torch.Tensor, tgt: torch.Tensor, src_valid_len: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, object]:
        """Encode src (B, S), and score the next word after every step of tgt (B, T).

        src_valid_len: None or (B,). Returns the scores (B, T, V) and the state of the decoder.
        """
        state = self.decoder.init_state(self.encoder(src, src_valid_len), src_valid_len)
        return self.decoder(tgt, state)
