"""The same program with torch imported before the fork, like the real one."""

import safetensors.torch  # noqa: F401
import torch  # noqa: F401
from standin import serve

__all__ = ["serve"]
