# %% right_exp_log: exp of a logarithm, in float64
# kind: same

import math

import torch


def rotary_angles(positions, d, base=10000.0):
    if d % 2 == 1:
        raise ValueError(f"d = {d} is odd, there are no pairs")
    i2 = torch.arange(0, d, 2, dtype=torch.float64, device=positions.device)
    freq = torch.exp(i2 * (-math.log(base) / d))
    return torch.einsum("...,f->...f", positions.double(), freq).float()


# %% right_columns: one column per pair, in Python numbers
# kind: same

import torch


def rotary_angles(positions: torch.Tensor, d: int, base: float = 10000.0) -> torch.Tensor:
    pairs, rest = divmod(d, 2)
    if rest:
        raise ValueError("need an even number of features")
    columns = []
    for i in range(pairs):
        columns.append(positions.to(torch.float32) / base ** (2 * i / d))
    return torch.stack(columns, dim=-1)


# %% right_geometric_series: each pair is slower than the one before by the same ratio
# kind: same

import torch


def rotary_angles(positions, d, base=10000.0):
    if d & 1:
        raise ValueError("odd head")
    n = d // 2
    ratio = torch.full((n,), base ** (-1 / n), dtype=torch.float64, device=positions.device)
    ratio[0] = 1.0
    return (positions.reshape(-1, 1) * ratio.cumprod(0)).reshape(*positions.shape, n).float()


# %% wrong_exponent_counts_pairs: the exponent is i/d, and not 2i/d
# kind: mistake
# breaks: values
# equals: rot-exponent-counts-pairs

import torch


def rotary_angles(positions, d, base=10000.0):
    if d % 2 != 0:
        raise ValueError("d must be even")
    i = torch.arange(d // 2, dtype=torch.float32)
    theta = base ** (-i / d)
    return positions.float().unsqueeze(-1) * theta


# %% wrong_floor_division: the exponent is divided with //, so all pairs have the same speed
# kind: mistake
# breaks: values
# equals: rot-one-speed

import torch


def rotary_angles(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("d must be even")
    exponent = torch.arange(0, d, 2) // d
    inv_freq = 1.0 / base**exponent
    return positions[..., None].float() * inv_freq


# %% wrong_linspace: linspace has both ends, so the last pair has the speed 1/base
# kind: mistake
# breaks: values
# equals: rot-last-too-slow

import torch


def rotary_angles(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("d must be even")
    exponents = torch.linspace(0, 1, d // 2)
    return positions.unsqueeze(-1) * base ** (-exponents)


# %% wrong_outer: torch.outer, for positions with one axis only
# kind: mistake
# breaks: shapes

import torch


def rotary_angles(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("d must be even")
    inv_freq = 1.0 / (base ** (torch.arange(0, d, 2).float() / d))
    return torch.outer(positions.float(), inv_freq)


# %% wrong_repeated: an angle per feature, each one twice
# kind: different
# breaks: shapes, defaults, values
# equals: rot-halves-twice

import torch


def rotary_angles(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("d must be even")
    inv_freq = 1.0 / (base ** (torch.arange(0, d, 2).float() / d))
    freqs = positions[..., None].float() * inv_freq
    return torch.cat((freqs, freqs), dim=-1)


# %% wrong_reduced: angles modulo 2π
# kind: different
# breaks: defaults, values
# equals: rot-modulo

import math

import torch


def rotary_angles(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("d must be even")
    speeds = base ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    angles = positions.double().unsqueeze(-1) * speeds
    return torch.remainder(angles, 2 * math.pi).float()


# %% wrong_no_check: odd d gives one pair too many and no error
# kind: mistake
# breaks: shapes
# equals: rot-odd-accepted

import torch


def rotary_angles(positions, d, base=10000.0):
    speeds = torch.pow(base, -torch.arange(0, d, 2) / d)
    return positions.unsqueeze(-1).float() * speeds


# %% wrong_assert: odd d is an AssertionError
# kind: mistake
# breaks: shapes
# equals: rot-odd-another-error

import torch


def rotary_angles(positions, d, base=10000.0):
    assert d % 2 == 0, "d must be even"
    speeds = torch.pow(base, -torch.arange(0, d, 2) / d)
    return positions.unsqueeze(-1).float() * speeds


# %% wrong_base_fixed: 10000 is written into the formula
# kind: mistake
# breaks: values
# equals: rot-base-fixed

import torch


def rotary_angles(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("d must be even")
    return positions.unsqueeze(-1).float() / 10000 ** (torch.arange(0, d, 2) / d)


# %% wrong_count_steps: counts the steps of the last axis instead of reading positions
# kind: mistake
# breaks: defaults, values
# equals: rot-counts-instead

import torch


def rotary_angles(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("d must be even")
    t = torch.arange(positions.shape[-1]).expand(positions.shape)
    return t[..., None] * base ** (-torch.arange(0, d, 2) / d)


# %% wrong_integer_result: the angles are cast back to the dtype of the positions
# kind: mistake
# breaks: shapes, defaults, values
# equals: rot-whole-numbers

import torch


def rotary_angles(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("d must be even")
    angles = positions[..., None] * base ** (-torch.arange(0, d, 2) / d)
    return angles.to(positions.dtype)


# %% wrong_half_precision: positions and speeds in half precision
# kind: mistake
# breaks: values
# equals: nothing

import torch


def rotary_angles(positions, d, base=10000.0):
    if d % 2:
        raise ValueError("an odd number of features has no pairs")
    speeds = base ** (-torch.arange(0, d, 2, device=positions.device) / d)
    return (positions.half()[..., None] * speeds.half()).float()
