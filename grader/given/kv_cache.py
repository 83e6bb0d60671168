"""A cache for the keys and values of one layer and one batch."""

import torch

__all__ = ["KVCache"]


class KVCache:
    """Stores the keys and values of at most `max_len` steps, piece by piece."""

    def __init__(self, max_len: int):
        self.max_len = max_len
        self._pieces: list[tuple[torch.Tensor, torch.Tensor]] = []

    @property
    def length(self) -> int:
        """The number of steps that are stored."""
        return sum(keys.size(2) for keys, _values in self._pieces)

    def append(self, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Store T new steps, (B, H, T, d) each. Returns all steps so far. Raises ValueError if they do not fit."""
        if self.length + keys.size(2) > self.max_len:
            raise ValueError(f"the cache has room for {self.max_len} steps only")
        pieces = [*self._pieces, (keys, values)]
        all_keys, all_values = (torch.cat(column, dim=2) for column in zip(*pieces, strict=True))
        self._pieces = [(all_keys, all_values)]
        return all_keys, all_values

    def crop(self, length: int) -> None:
        """Keep the first `length` steps only. Raises ValueError for more steps than there are, or fewer than none."""
        if length < 0 or length > self.length:
            raise ValueError(f"the cache has {self.length} steps, so it cannot keep {length}")
        self._pieces = [
            (keys[:, :, :length], values[:, :, :length]) for keys, values in self._pieces if length
        ]
