"""The program of `standin.py`, with torch imported before the fork, as in the real worker program."""

import safetensors.torch  # noqa: F401
import torch  # noqa: F401
from standin import serve

__all__ = ["serve"]
