"""The interface of decoders in Dive into Deep Learning."""

import torch
from torch import nn

__all__ = ["Decoder"]


class Decoder(nn.Module):
    """A base class: subclasses write `init_state(enc_outputs, ...)` and `forward(X, state)`."""

    def init_state(self, enc_outputs: object, *args: object) -> object:
        raise NotImplementedError(f"{type(self).__name__} has no init_state(enc_outputs) of its own yet.")

    def forward(self, X: torch.Tensor, state: object) -> object:
        raise NotImplementedError(f"{type(self).__name__} has no forward(X, state) of its own yet.")
