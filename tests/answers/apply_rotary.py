# %% right_complex: multiplies complex numbers
# kind: same

import torch


def apply_rotary(x, positions, base=10000.0):
    d = x.shape[-1]
    freqs = 1.0 / base ** (torch.arange(0, d, 2, device=x.device).double() / d)
    angles = (positions[..., None] * freqs).float()
    turn = torch.polar(torch.ones_like(angles), angles)  # (T, d/2) or (B, T, d/2)
    if turn.dim() == 3:
        turn = turn[:, None]
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], d // 2, 2).contiguous())
    return torch.view_as_real(z * turn).flatten(-2).type_as(x)


# %% right_two_by_two: a 2×2 matrix per pair, with einsum
# kind: same

import torch
from grader.given import rotary_angles


def apply_rotary(x, positions, base=10000.0):
    B, H, T, d = x.shape
    theta = rotary_angles(positions, d, base=base).expand(B, T, d // 2)
    c, s = theta.cos(), theta.sin()
    R = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)  # (B, T, d/2, 2, 2)
    pairs = x.to(R.dtype).unflatten(-1, (-1, 2))
    return torch.einsum("btpij,bhtpj->bhtpi", R, pairs).flatten(3).to(x.dtype)


# %% right_halves_and_back: permutes to halves, turns them, and permutes back
# kind: same

import torch
from grader.given import rotary_angles


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def apply_rotary(x, positions, base=10000.0):
    d = x.size(-1)
    order = torch.cat([torch.arange(0, d, 2), torch.arange(1, d, 2)]).to(x.device)
    back = order.argsort()
    emb = rotary_angles(positions, d, base=base).repeat_interleave(2, dim=-1)[..., order]
    if positions.ndim == 2:
        emb = emb.unsqueeze(1)
    h = x[..., order].float()
    return (h * emb.cos() + rotate_half(h) * emb.sin())[..., back].to(x.dtype)


# %% right_whole_matrix: a whole (d, d) matrix per step
# kind: same

import torch


def apply_rotary(x, positions, base=10000.0):
    d = x.shape[-1]
    even = torch.arange(0, d, 2, device=x.device)
    angle = positions.double()[..., None] * base ** (-even.double() / d)
    R = torch.zeros(*positions.shape, d, d, dtype=torch.float64, device=x.device)
    R[..., even, even] = R[..., even + 1, even + 1] = torch.cos(angle)
    R[..., even + 1, even] = torch.sin(angle)
    R[..., even, even + 1] = -torch.sin(angle)
    if positions.ndim > 1:
        R = R[:, None]
    return (R @ x.double().unsqueeze(-1)).squeeze(-1).to(x.dtype)


# %% right_filled: fills an empty result, one sequence after the other
# kind: same

import torch
from grader.given import rotary_angles


def apply_rotary(x, positions, base=10000.0):
    out = torch.empty_like(x)
    for b in range(x.shape[0]):
        p = positions if positions.dim() == 1 else positions[b]
        angles = rotary_angles(p, x.shape[-1], base=base)
        even, odd = x[b, :, :, 0::2].float(), x[b, :, :, 1::2].float()
        out[b, :, :, 0::2] = (even * angles.cos() - odd * angles.sin()).to(x.dtype)
        out[b, :, :, 1::2] = (odd * angles.cos() + even * angles.sin()).to(x.dtype)
    return out


# %% right_half_precision_angles: angles in the dtype of x
# kind: policy
# later: precision

import torch


def apply_rotary(x, positions, base=10000.0):
    d = x.shape[-1]
    inv_freq = base ** (-torch.arange(0, d, 2, device=x.device).float() / d)
    angles = positions.to(x.dtype).unsqueeze(-1) * inv_freq.to(x.dtype)
    if angles.dim() == 3:
        angles = angles.unsqueeze(1)
    c, s = angles.cos(), angles.sin()
    a, b = x[..., ::2], x[..., 1::2]
    return torch.stack((a * c - b * s, a * s + b * c), dim=-1).reshape(x.shape)


# %% wrong_written_as_halves: pairs are read as neighbours and written as halves
# kind: mistake
# breaks: defaults, values, gradients
# equals: turn-written-as-halves

import torch
from grader.given import rotary_angles


def apply_rotary(x, positions, base=10000.0):
    angles = rotary_angles(positions, x.shape[-1], base=base)
    if angles.dim() == 3:
        angles = angles.unsqueeze(1)
    a, b = x[..., ::2].float(), x[..., 1::2].float()
    out = torch.cat((a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()), dim=-1)
    return out.to(x.dtype)


# %% wrong_halves: the convention of halves
# kind: different
# breaks: values, gradients
# equals: turn-halves

import torch
from grader.given import rotary_angles


def rotate_half(x):
    h = x.shape[-1] // 2
    return torch.cat((-x[..., h:], x[..., :h]), dim=-1)


def apply_rotary(x, positions, base=10000.0):
    freqs = rotary_angles(positions, x.shape[-1], base=base)
    emb = torch.cat((freqs, freqs), dim=-1)
    if emb.dim() == 3:
        emb = emb[:, None]
    return (x * emb.cos() + rotate_half(x) * emb.sin()).to(x.dtype)


# %% wrong_backwards: turns by minus the angle
# kind: different
# breaks: values, gradients
# equals: turn-backwards

import torch
from grader.given import rotary_angles


def apply_rotary(x, positions, base=10000.0):
    angles = rotary_angles(positions, x.shape[-1], base=base)
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)
    c, s = angles.cos(), angles.sin()
    x1, x2 = x.unflatten(-1, (-1, 2)).unbind(-1)
    y1 = x1 * c + x2 * s
    y2 = -x1 * s + x2 * c
    return torch.stack([y1, y2], -1).flatten(-2).to(x.dtype)


# %% wrong_overwritten: the second feature is computed with the first one already turned
# kind: mistake
# breaks: values, gradients
# equals: turn-second-from-new-first

import torch
from grader.given import rotary_angles


def apply_rotary(x, positions, base=10000.0):
    angles = rotary_angles(positions, x.shape[-1], base=base)
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)
    a, b = x[..., 0::2].float(), x[..., 1::2].float()
    a = a * angles.cos() - b * angles.sin()
    b = a * angles.sin() + b * angles.cos()
    return torch.stack((a, b), dim=-1).flatten(-2).to(x.dtype)


# %% wrong_in_place: writes into x
# kind: mistake
# breaks: purity
# equals: turn-in-place

import torch
from grader.given import rotary_angles


def apply_rotary(x, positions, base=10000.0):
    angles = rotary_angles(positions, x.shape[-1], base=base)
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)
    c, s = angles.cos(), angles.sin()
    a = x[..., 0::2].clone()
    b = x[..., 1::2].clone()
    x[..., 0::2] = a * c - b * s
    x[..., 1::2] = a * s + b * c
    return x


# %% wrong_no_head_axis: angles of shape (B, T, d/2) get no axis for the heads
# kind: mistake
# breaks: shapes
# equals: turn-own-sequences-refused

import torch
from grader.given import rotary_angles


def apply_rotary(x, positions, base=10000.0):
    angles = rotary_angles(positions, x.shape[-1], base=base)
    c, s = angles.cos(), angles.sin()
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * c - b * s, a * s + b * c], dim=-1).flatten(-2).to(x.dtype)


# %% wrong_no_minus: both terms are added
# kind: mistake
# breaks: values, gradients
# equals: turn-no-minus

import torch
from grader.given import rotary_angles


def apply_rotary(x, positions, base=10000.0):
    angles = rotary_angles(positions, x.shape[-1], base=base).repeat_interleave(2, dim=-1)
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)
    swapped = x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
    return (x * angles.cos() + swapped * angles.sin()).to(x.dtype)


# %% wrong_float32_result: the result is always float32
# kind: policy
# later: precision

import torch
from grader.given import rotary_angles


def apply_rotary(x, positions, base=10000.0):
    angles = rotary_angles(positions, x.shape[-1], base=base)
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)
    turn = torch.polar(torch.ones_like(angles), angles)
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(z * turn).flatten(-2)


# %% wrong_partial: turns the first half of the features only
# kind: different
# breaks: values, gradients
# equals: turn-only-first-half

import torch
from grader.given import rotary_angles


def apply_rotary(x, positions, base=10000.0):
    r = max(2, x.shape[-1] // 4 * 2)
    rot, rest = x[..., :r], x[..., r:]
    angles = rotary_angles(positions, r, base=base)
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)
    a, b = rot[..., 0::2].float(), rot[..., 1::2].float()
    turned = torch.stack(
        [a * angles.cos() - b * angles.sin(), a * angles.sin() + b * angles.cos()], dim=-1
    ).flatten(-2)
    return torch.cat([turned.to(x.dtype), rest], dim=-1)


# %% wrong_first_row_of_positions: all sequences get the positions of the first
# kind: mistake
# breaks: values, gradients
# equals: turn-first-sequence-for-all

import torch
from grader.given import rotary_angles


def apply_rotary(x, positions, base=10000.0):
    if positions.dim() == 2:
        positions = positions[0]
    angles = rotary_angles(positions, x.shape[-1], base=base)
    c, s = angles.cos(), angles.sin()
    a, b = x.float().unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack([a * c - b * s, a * s + b * c], dim=-1).flatten(-2).to(x.dtype)


# %% wrong_no_gradient: runs under no_grad
# kind: mistake
# breaks: gradients

import torch
from grader.given import rotary_angles


@torch.no_grad()
def apply_rotary(x, positions, base=10000.0):
    angles = rotary_angles(positions, x.shape[-1], base=base)
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)
    a, b = x[..., 0::2], x[..., 1::2]
    out = x.clone()
    out[..., 0::2] = a * angles.cos() - b * angles.sin()
    out[..., 1::2] = b * angles.cos() + a * angles.sin()
    return out


# %% wrong_base_forgotten_and_short_table: base is not passed on, and the table ends at 512 with a clamp
# kind: mistake
# breaks: values, gradients

import torch
from grader.given import rotary_angles


def apply_rotary(x, positions, base=10000.0):
    table = rotary_angles(torch.arange(512, device=x.device), x.shape[-1])
    angles = table[positions.clamp(max=511)]
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)
    a, b = x[..., 0::2], x[..., 1::2]
    c, s = angles.cos(), angles.sin()
    return torch.stack([a * c - b * s, a * s + b * c], dim=-1).flatten(-2).to(x.dtype)
