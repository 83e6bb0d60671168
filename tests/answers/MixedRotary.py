# %% right_index: the columns of the table by their numbers
# kind: same

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        angles = angles[:, torch.arange(d) // 2]  # 0, 0, 1, 1, 2, 2, …
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
        return (x * cos + crossed * sin).to(x.dtype)


# %% right_gathered_in_forward: the old table, its columns put in order in forward
# kind: same

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        angles = torch.cat([angles, angles], dim=-1)
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        h = x.shape[-1] // 2
        order = torch.arange(h).repeat_interleave(2).to(x.device)
        cos, sin = cos[:, order], sin[:, order]
        crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
        return (x * cos + crossed * sin).to(x.dtype)


# %% right_complex_table: a table of complex numbers
# kind: same

import torch
from torch import nn


class MixedRotary(nn.Module):
    def __init__(self, d, base=10000.0, max_len=512):
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        self.register_buffer("turn", torch.exp(1j * angles).to(torch.complex64), persistent=False)

    def forward(self, x, positions):
        pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_real(pairs * self.turn[positions]).flatten(-2).to(x.dtype)


# %% right_half_tables: tables with a column per pair, no crossed copy
# kind: same

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        out = torch.empty_like(x)
        out[..., ::2] = x[..., ::2] * cos - x[..., 1::2] * sin
        out[..., 1::2] = x[..., ::2] * sin + x[..., 1::2] * cos
        return out


# %% wrong_repeat: cat replaced by repeat, which does the same
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        angles = angles.repeat(1, 2)
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
        return (x * cos + crossed * sin).to(x.dtype)


# %% wrong_stack_on_axis_1: stack on the wrong axis: again the layout of halves
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        angles = torch.stack([angles, angles], dim=1).flatten(1)
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
        return (x * cos + crossed * sin).to(x.dtype)


# %% wrong_only_cos: the table of cosines is repaired, that of sines is not
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        angles = torch.cat([angles, angles], dim=-1)
        paired = angles[:, : d // 2].repeat_interleave(2, dim=-1)
        self.register_buffer("cos", paired.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
        return (x * cos + crossed * sin).to(x.dtype)


# %% wrong_rotation_of_halves: repaired to the convention of halves
# kind: different
# breaks: values, gradients

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        angles = torch.cat([angles, angles], dim=-1)
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        crossed = torch.cat([-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]], dim=-1)
        return (x * cos + crossed * sin).to(x.dtype)


# %% wrong_table_and_rotation_exchanged: both parts are changed: table for neighbours, rotation of halves
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        angles = angles.repeat_interleave(2, dim=-1)
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        crossed = torch.cat([-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]], dim=-1)
        return (x * cos + crossed * sin).to(x.dtype)


# %% wrong_crossed_written_as_halves: the table is right, but the crossed features are joined with cat
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        angles = angles.repeat_interleave(2, dim=-1)
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        crossed = torch.cat([-x[..., 1::2], x[..., 0::2]], dim=-1)
        return (x * cos + crossed * sin).to(x.dtype)


# %% wrong_minus_moved: the table is right, but the minus is at the other feature
# kind: different
# breaks: values, gradients

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        angles = angles.repeat_interleave(2, dim=-1)
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        crossed = torch.stack([x[..., 1::2], -x[..., 0::2]], dim=-1).flatten(-2)
        return (x * cos + crossed * sin).to(x.dtype)


# %% wrong_speed_per_feature: a speed for each feature
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
        return (x * cos + crossed * sin).to(x.dtype)


# %% wrong_rows_repeated: repeat_interleave without dim=-1 on the rows
# kind: mistake
# breaks: shapes, values

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        angles = angles.repeat_interleave(2, dim=0)
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
        return (x * cos + crossed * sin).to(x.dtype)


# %% wrong_first_rows: the table is right, but its first T rows are taken
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        angles = angles.repeat_interleave(2, dim=-1)
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[: x.shape[-2]], self.sin[: x.shape[-2]]
        crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
        return (x * cos + crossed * sin).to(x.dtype)


# %% right_dtype_of_the_table: the table is right; in half precision the result has the dtype of the table
# kind: same

import torch
from torch import nn


class MixedRotary(nn.Module):
    """Turn pairs of features with tables that are computed once."""

    def __init__(self, d: int, base: float = 10000.0, max_len: int = 512) -> None:
        super().__init__()
        speeds = base ** (-torch.arange(0, d, 2).double() / d)
        angles = torch.arange(max_len)[:, None] * speeds
        angles = angles.repeat_interleave(2, dim=-1)
        self.register_buffer("cos", angles.cos().float(), persistent=False)
        self.register_buffer("sin", angles.sin().float(), persistent=False)

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        """x: (B, H, T, d); positions: (T,), integers below max_len. Returns (B, H, T, d) in the dtype of x."""
        cos, sin = self.cos[positions], self.sin[positions]
        crossed = torch.stack([-x[..., 1::2], x[..., 0::2]], dim=-1).flatten(-2)
        return (x * cos + crossed * sin)
