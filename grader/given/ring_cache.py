"""A cache for the keys and values of the newest steps and of the sinks."""

import torch

__all__ = ["RingCache"]


class RingCache:
    """Stores the first `sinks` steps and the newest `window` steps of one layer and one batch."""

    def __init__(self, window: int, sinks: int = 0):
        self.window, self.sinks = window, sinks
        self.total = 0
        self._steps: list[tuple[int, torch.Tensor, torch.Tensor]] = []  # position, key, value

    def append(
        self, keys: torch.Tensor, values: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Add T new steps, (B, H_kv, T, d) each. Returns keys, values and positions of the stored and of the new steps."""
        new = zip(keys.unbind(2), values.unbind(2), strict=True)
        steps = [*self._steps, *((self.total + t, key, value) for t, (key, value) in enumerate(new))]
        self.total += keys.size(2)
        self._steps = [one for one in steps if one[0] < self.sinks or one[0] >= self.total - self.window]
        positions, all_keys, all_values = zip(*steps, strict=True)
        at = torch.tensor(positions, device=keys.device)
        return torch.stack(all_keys, dim=2), torch.stack(all_values, dim=2), at
