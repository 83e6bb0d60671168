"""The same program with torch imported before the fork, as the real one has it."""

import safetensors.torch  # noqa: F401
import torch  # noqa: F401
from standin import serve

__all__ = ["serve"]
