"""The interface of decoders in Dive into Deep Learning."""

import torch
from torch import nn

__all__ = ["Decoder"]


class Decoder(nn.Module):
    """A base class: subclasses define `init_state(enc_outputs, ...)` and `forward(X, state)`."""

    def init_state(self, enc_outputs: object, *args: object) -> object:
        raise NotImplementedError(f"{type(self).__name__} does not define init_state(enc_outputs).")

    def forward(self, X: torch.Tensor, state: object) -> object:
        raise NotImplementedError(f"{type(self).__name__} does not define forward(X, state).")
