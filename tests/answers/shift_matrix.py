# %% right_block_diag: block_diag, float64
# kind: same

import torch

def shift_matrix(delta, num_hiddens):
    angles = delta * 10000.0 ** (-torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens)
    blocks = [torch.stack((torch.stack((a.cos(), a.sin())), torch.stack((-a.sin(), a.cos())))) for a in angles]
    return torch.block_diag(*blocks)


# %% right_diagonals: three diagonals
# kind: same

import torch

def shift_matrix(delta, num_hiddens):
    w = torch.repeat_interleave(10000 ** (-torch.arange(0, num_hiddens, 2) / num_hiddens), 2)
    on_sine_rows = (torch.arange(num_hiddens - 1) % 2 == 0).float()
    s = torch.sin(delta * w)[:-1] * on_sine_rows
    return torch.diag(torch.cos(delta * w)) + torch.diag(s, 1) - torch.diag(s, -1)


# %% right_loop: two by two blocks written in a loop
# kind: same

import math
import torch

def shift_matrix(delta, num_hiddens):
    """[sin w(i+d), cos w(i+d)] = [[cos wd, sin wd], [-sin wd, cos wd]] [sin wi, cos wi]"""
    M = torch.zeros((num_hiddens, num_hiddens))
    for j in range(num_hiddens // 2):
        wd = delta / math.pow(10000, 2 * j / num_hiddens)
        M[2 * j, 2 * j] = math.cos(wd)
        M[2 * j, 2 * j + 1] = math.sin(wd)
        M[2 * j + 1, 2 * j] = -math.sin(wd)
        M[2 * j + 1, 2 * j + 1] = math.cos(wd)
    return M


# %% right_matrix_exponential: exponential of the generator of rotations
# kind: same

import torch

def shift_matrix(delta, num_hiddens):
    even = torch.arange(0, num_hiddens, 2)
    w = 10000 ** (-even.double() / num_hiddens)
    G = torch.zeros(num_hiddens, num_hiddens, dtype=torch.float64)
    G[even, even + 1], G[even + 1, even] = w, -w
    return torch.linalg.matrix_exp(delta * G).float()


# %% right_power_of_one_step: one step, raised to the power delta
# kind: same

import torch

def shift_matrix(delta, num_hiddens):
    one = torch.zeros(num_hiddens, num_hiddens, dtype=torch.float64)
    for a in range(0, num_hiddens, 2):
        w = torch.tensor(10000.0 ** (-a / num_hiddens), dtype=torch.float64)
        one[a:a + 2, a:a + 2] = torch.tensor([[w.cos(), w.sin()], [-w.sin(), w.cos()]])
    if delta < 0:
        one, delta = one.T, -delta       # a rotation: its transpose turns back
    return torch.linalg.matrix_power(one, delta)


# %% wrong_absolute: abs(delta): never shifts back
# kind: mistake
# breaks: values
# equals: shift-never-back

import torch

def shift_matrix(delta, num_hiddens):
    w = 10000.0 ** (-torch.arange(0, num_hiddens, 2) / num_hiddens)
    a = abs(delta) * w
    return torch.block_diag(*[torch.tensor([[x.cos(), x.sin()], [-x.sin(), x.cos()]]) for x in a])


# %% wrong_base: base 1000
# kind: mistake
# breaks: values
# equals: shift-base-thousand

import torch
from math import cos, sin

def shift_matrix(delta, num_hiddens):
    D = num_hiddens
    rows = [[0.] * D for _ in range(D)]
    for j in range(D // 2):
        a = delta * 1000 ** (-2 * j / D)
        rows[2*j][2*j] = rows[2*j+1][2*j+1] = cos(a)
        rows[2*j][2*j+1] = sin(a)
        rows[2*j+1][2*j] = -sin(a)
    return torch.tensor(rows)


# %% wrong_delta_sign: the right matrix for -delta
# kind: mistake
# breaks: values
# equals: shift-backwards, shift-layout-exchanged

import torch
import numpy as np

def shift_matrix(delta, num_hiddens):
    delta = -delta
    blocks = []
    for j in range(0, num_hiddens, 2):
        a = delta / np.power(10000, j / num_hiddens)
        blocks.append(torch.tensor([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]))
    return torch.block_diag(*blocks)


# %% wrong_exponent: exponent j/D with j = 0, 1, 2, …
# kind: mistake
# breaks: values
# equals: shift-exponent-counts-pairs

import torch

def shift_matrix(delta, num_hiddens):
    M = torch.zeros((num_hiddens, num_hiddens))
    for j in range(num_hiddens // 2):
        angle = torch.tensor(float(delta)) / 10000 ** (j / num_hiddens)
        M[2*j:2*j+2, 2*j:2*j+2] = torch.stack([
            torch.stack([angle.cos(), angle.sin()]),
            torch.stack([-angle.sin(), angle.cos()])])
    return M


# %% wrong_half_size: (D/2, D/2): one entry per pair
# kind: mistake
# breaks: shapes, values
# equals: shift-one-number-per-pair

import torch

def shift_matrix(delta, num_hiddens):
    w = 10000.0 ** (-torch.arange(0, num_hiddens, 2) / num_hiddens)
    return torch.diag(torch.cos(delta * w))


# %% wrong_halves: layout of halves, not of pairs
# kind: different
# breaks: values
# equals: shift-halves

import torch

def shift_matrix(delta, num_hiddens):
    w = 10000 ** (-torch.arange(0, num_hiddens, 2) / num_hiddens)
    C, S = torch.diag(torch.cos(delta * w)), torch.diag(torch.sin(delta * w))
    return torch.cat((torch.cat((C, S), dim=1), torch.cat((-S, C), dim=1)), dim=0)


# %% wrong_identity: the identity
# kind: mistake
# breaks: values
# equals: shift-always-identity

import torch

def shift_matrix(delta, num_hiddens):
    """Shifting does not change the vector."""
    return torch.eye(num_hiddens)


# %% wrong_no_minus: minus sign forgotten
# kind: mistake
# breaks: values
# equals: shift-no-minus

import torch

def shift_matrix(delta, num_hiddens):
    w = torch.pow(10000, -torch.arange(0, num_hiddens, 2).float() / num_hiddens)
    s, c = (delta * w).sin(), (delta * w).cos()
    M = torch.zeros(num_hiddens, num_hiddens)
    even = torch.arange(0, num_hiddens, 2)
    M[even, even] = c
    M[even, even + 1] = s
    M[even + 1, even] = s
    M[even + 1, even + 1] = c
    return M


# %% wrong_one_frequency: every pair turns with the first frequency
# kind: mistake
# breaks: values
# equals: shift-one-speed

import torch, math

def shift_matrix(delta, num_hiddens):
    block = torch.tensor([[math.cos(delta), math.sin(delta)], [-math.sin(delta), math.cos(delta)]])
    return torch.kron(torch.eye(num_hiddens // 2), block)


# %% wrong_outer_product: outer product P[delta] P[0]ᵀ: right for i = 0 only up to scale
# kind: mistake
# breaks: values
# equals: nothing

import torch

def shift_matrix(delta, num_hiddens):
    def row(i):
        a = i / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        return torch.stack((a.sin(), a.cos()), 1).flatten()
    p, q = row(0), row(delta)
    return torch.outer(q, p) / p.dot(p)


# %% wrong_permutation: a cyclic permutation of the features
# kind: mistake
# breaks: values
# equals: shift-moves-features

import torch

def shift_matrix(delta, num_hiddens):
    return torch.roll(torch.eye(num_hiddens), delta, dims=0)


# %% wrong_reflection: sine and cosine exchanged
# kind: mistake
# breaks: values
# equals: shift-columns-exchanged

import torch

def shift_matrix(delta, num_hiddens):
    M = torch.zeros(num_hiddens, num_hiddens)
    for j in range(0, num_hiddens, 2):
        t = torch.tensor(delta / 10000 ** (j / num_hiddens))
        M[j:j + 2, j:j + 2] = torch.tensor([[t.sin(), t.cos()], [t.cos(), -t.sin()]])
    return M


# %% wrong_small_angle: cos a ≈ 1 and sin a ≈ a
# kind: mistake
# breaks: values
# equals: shift-small-angles

import torch

def shift_matrix(delta, num_hiddens):
    M = torch.eye(num_hiddens)
    for j in range(0, num_hiddens, 2):
        a = delta / 10000 ** (j / num_hiddens)
        M[j, j + 1] = a
        M[j + 1, j] = -a
    return M


# %% wrong_transposed: transposed: shifts backwards
# kind: mistake
# breaks: values
# equals: shift-backwards, shift-layout-exchanged

import torch

def shift_matrix(delta, num_hiddens):
    M = torch.zeros(num_hiddens, num_hiddens)
    for j in range(num_hiddens // 2):
        w = 1 / 10000 ** (2 * j / num_hiddens)
        c, s = torch.cos(torch.tensor(delta * w)), torch.sin(torch.tensor(delta * w))
        M[2 * j, 2 * j], M[2 * j, 2 * j + 1] = c, -s
        M[2 * j + 1, 2 * j], M[2 * j + 1, 2 * j + 1] = s, c
    return M


# %% wrong_list_to_block_diag: torch.block_diag gets one list instead of separate matrices
# kind: mistake
# breaks: shapes
# equals: nothing

import torch


def shift_matrix(delta, num_hiddens):
    blocks = []
    for j in range(num_hiddens // 2):
        a = torch.tensor(delta / 10000 ** (2 * j / num_hiddens))
        rot = torch.stack([torch.stack([a.cos(), a.sin()]), torch.stack([-a.sin(), a.cos()])])
        blocks.append(rot)
    return torch.block_diag(blocks)


# %% wrong_integer_table: the matrix starts as integer zeros, so every sine and cosine is cut
# kind: mistake
# breaks: defaults, shapes, values
# equals: shift-whole-numbers

import math

import torch


def shift_matrix(delta, num_hiddens):
    M = torch.tensor([[0] * num_hiddens for _ in range(num_hiddens)])
    for k in range(num_hiddens // 2):
        angle = delta / math.pow(10000, 2 * k / num_hiddens)
        M[2 * k, 2 * k] = math.cos(angle)
        M[2 * k, 2 * k + 1] = math.sin(angle)
        M[2 * k + 1, 2 * k] = -math.sin(angle)
        M[2 * k + 1, 2 * k + 1] = math.cos(angle)
    return M


# %% wrong_overlapping_pairs_and_abs: pair j is written at the rows j and j+1, and the sign of delta is lost
# kind: mistake
# breaks: values
# equals: shift-pairs-overlap+shift-never-back

import math

import torch


def shift_matrix(delta, num_hiddens):
    delta = abs(delta)  # a distance
    out = torch.zeros(num_hiddens, num_hiddens)
    for j in range(num_hiddens // 2):
        angle = delta * math.exp(-math.log(10000) * 2 * j / num_hiddens)
        out[j : j + 2, j : j + 2] = torch.tensor(
            [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
        )
    return out


# %% wrong_other_direction: the signs of the usual rotation matrix, written in a loop
# kind: mistake
# breaks: defaults, values
# equals: shift-backwards, shift-layout-exchanged

import math

import torch


def shift_matrix(delta: int, num_hiddens: int) -> torch.Tensor:
    M = torch.zeros(num_hiddens, num_hiddens)
    for k in range(0, num_hiddens, 2):
        a = delta / 10000 ** (k / num_hiddens)
        # rotation matrix, see linear algebra lecture
        M[k, k] = math.cos(a)
        M[k, k + 1] = -math.sin(a)
        M[k + 1, k] = math.sin(a)
        M[k + 1, k + 1] = math.cos(a)
    return M


# %% wrong_torch_sin_of_float: torch.sin of a Python number
# kind: mistake
# breaks: shapes
# equals: nothing

import torch


def shift_matrix(delta: int, num_hiddens: int) -> torch.Tensor:
    D = num_hiddens
    blocks = []
    for j in range(D // 2):
        omega = 1 / (10000 ** (2 * j / D))
        s = torch.sin(delta * omega)
        c = torch.cos(delta * omega)
        blocks.append(torch.tensor([[c, s], [-s, c]]))
    return torch.block_diag(*blocks)
