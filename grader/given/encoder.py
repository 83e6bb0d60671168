"""The interface of encoders in Dive into Deep Learning."""

import torch
from torch import nn

__all__ = ["Encoder"]


class Encoder(nn.Module):
    """A base class: subclasses define `forward(X, ...)`."""

    def forward(self, X: torch.Tensor, *args: object) -> object:
        raise NotImplementedError(f"{type(self).__name__} does not define forward(X).")
