"""The same program with gigabytes of address space taken before the fork, as libraries for CUDA do."""

import mmap

from standin import serve

__all__ = ["serve"]

held = mmap.mmap(-1, 5 << 30, prot=mmap.PROT_READ)
