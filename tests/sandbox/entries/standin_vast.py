"""The program of `standin.py`, with 5 GiB of address space mapped before the fork, more than CUDA maps."""

import mmap

from standin import serve

__all__ = ["serve"]

held = mmap.mmap(-1, 5 << 30, prot=mmap.PROT_READ)
