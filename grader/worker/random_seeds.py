"""Start the generators of random numbers, so that the same code draws the same numbers in every process."""

from __future__ import annotations

import random

import numpy as np
import torch


def start(number: int, device: str = "cpu") -> None:
    """Start the generators of torch, Python and NumPy."""
    # torch.manual_seed takes longer: it also stores a traceback for each device type that this machine lacks.
    begin = torch.default_generator.manual_seed if device == "cpu" else torch.manual_seed
    begin(number)
    random.seed(number)
    np.random.seed(number)
