# %% right_book_odd: the book's encoding, odd width allowed, table taken to X's device and dtype
# kind: same

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    """Positional encoding"""
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super(PositionalEncoding, self).__init__()
        self.dropout = nn.Dropout(dropout)
        # Create a long enough P
        self.P = torch.zeros((1, max_len, num_hiddens))
        X = torch.arange(max_len, dtype=torch.float32).reshape(
            -1, 1) / torch.pow(10000, torch.arange(
            0, num_hiddens, 2, dtype=torch.float32) / num_hiddens)
        self.P[:, :, 0::2] = torch.sin(X)
        self.P[:, :, 1::2] = torch.cos(X)[:, :num_hiddens // 2]

    def forward(self, X):
        X = X + self.P[:, :X.shape[1], :].to(X)
        return self.dropout(X)


# %% right_complex: complex exponentials: imaginary and real part side by side
# kind: same

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        w = 10000.0 ** (-torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens)
        phase = torch.outer(torch.arange(max_len, dtype=torch.float64), w)
        z = torch.polar(torch.ones_like(phase), phase)
        P = torch.stack((z.imag, z.real), dim=-1).reshape(max_len, -1)[:, :num_hiddens]
        self.register_buffer("P", P.float(), persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:X.shape[1]].to(X))


# %% right_frozen_parameter: table as a parameter that takes no gradient
# kind: same

import math
import torch
import torch.nn as nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, num_hiddens, 2).float() * (-math.log(10000.0) / num_hiddens))
        pe = torch.zeros(1, max_len, num_hiddens)
        pe[0, :, 0::2] = torch.sin(position * div_term)
        pe[0, :, 1::2] = torch.cos(position * div_term)[:, :num_hiddens // 2]
        self.pe = nn.Parameter(pe, requires_grad=False)

    def forward(self, x):
        x = x + self.pe[:, :x.size(1)]
        return self.dropout(x)


# %% right_loops: table filled by two loops and math
# kind: same

import math
import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        rows = []
        for pos in range(max_len):
            row = []
            for j in range(num_hiddens):
                angle = pos / 10000 ** (2 * (j // 2) / num_hiddens)
                row.append(math.sin(angle) if j % 2 == 0 else math.cos(angle))
            rows.append(row)
        self.register_buffer('P', torch.tensor(rows))      # in the state dict as well

    def forward(self, X):
        return self.dropout(X + self.P[:X.shape[1]])


# %% right_odd_crash: crashes for odd num_hiddens
# kind: policy
# later: odd-width, precision

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    """Positional encoding"""
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super(PositionalEncoding, self).__init__()
        self.dropout = nn.Dropout(dropout)
        self.P = torch.zeros((1, max_len, num_hiddens))
        X = torch.arange(max_len, dtype=torch.float32).reshape(
            -1, 1) / torch.pow(10000, torch.arange(
            0, num_hiddens, 2, dtype=torch.float32) / num_hiddens)
        self.P[:, :, 0::2] = torch.sin(X)
        self.P[:, :, 1::2] = torch.cos(X)

    def forward(self, X):
        X = X + self.P[:, :X.shape[1], :].to(X.device)
        return self.dropout(X)


# %% right_on_the_fly: no table: made at each call on X's device
# kind: same

import torch
import torch.nn.functional as F
from torch import nn, Tensor

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 1000) -> None:
        super().__init__()
        self.p = dropout

    def forward(self, X: Tensor) -> Tensor:
        _, T, D = X.shape
        j = torch.arange(D, device=X.device)
        w = torch.exp2(-(j - j % 2) / D * 13.287712379549449)      # log2(10000)
        shift = (j % 2) * (torch.pi / 2)                           # cos(a) = sin(a + pi/2)
        P = torch.sin(torch.arange(T, device=X.device)[:, None] * w + shift)
        return F.dropout(X + P.to(X.dtype), self.p, self.training)


# %% right_rotation: each row from the row before by rotating
# kind: same

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        w = 10000.0 ** (-torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens)
        s, c = torch.zeros_like(w), torch.ones_like(w)
        P = []
        for _ in range(max_len):
            P.append(torch.stack((s, c), dim=1).flatten()[:num_hiddens])
            s, c = s * w.cos() + c * w.sin(), c * w.cos() - s * w.sin()
        self.register_buffer("P", torch.stack(P).float(), persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:X.shape[1]])


# %% wrong_base_1000: base 1000 instead of 10000
# kind: mistake
# breaks: values
# equals: pos-base-thousand

import math
import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        pe = torch.zeros(max_len, num_hiddens)
        position = torch.arange(0, max_len).unsqueeze(1).float()
        div_term = torch.exp(torch.arange(0, num_hiddens, 2).float() * -(math.log(1000.0) / num_hiddens))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term[:num_hiddens // 2])
        self.register_buffer("pe", pe.unsqueeze(0), persistent=False)

    def forward(self, x):
        return self.dropout(x + self.pe[:, :x.size(1)])


# %% wrong_concatenates: positions joined to X instead of added
# kind: different
# breaks: shapes, values
# equals: pos-concatenated

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.register_buffer("P", torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[None, :, :num_hiddens], persistent=False)

    def forward(self, X):
        P = self.P[:, :X.shape[1]].expand_as(X)
        return self.dropout(torch.cat((X, P), dim=-1))


# %% wrong_cos_next_column: cos uses exponent of column i+1
# kind: mistake
# breaks: values
# equals: pos-cosine-of-next-column

import math
import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        table = torch.zeros(max_len, num_hiddens)
        for pos in range(max_len):
            for i in range(num_hiddens):
                angle = pos / 10000 ** (i / num_hiddens)
                table[pos, i] = math.sin(angle) if i % 2 == 0 else math.cos(angle)
        self.register_buffer('table', table.unsqueeze(0), persistent=False)

    def forward(self, X):
        X = X + self.table[:, :X.size(1)]
        return self.dropout(X)


# %% wrong_counts_on: a second call continues where the first one stopped
# kind: mistake
# breaks: purity
# equals: pos-counts-on

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.step, self.max_len = 0, max_len
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.register_buffer("P", torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[None, :, :num_hiddens], persistent=False)

    def forward(self, X):
        T = X.shape[1]
        if self.step + T > self.max_len:
            self.step = 0
        P = self.P[:, self.step:self.step + T]
        self.step += T
        return self.dropout(X + P)


# %% wrong_degrees: angles turned into radians once more
# kind: mistake
# breaks: values
# equals: pos-degrees

import numpy as np
import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        cols = np.arange(num_hiddens)
        ang = np.arange(max_len)[:, None] / np.power(10000., (cols - cols % 2) / num_hiddens)
        ang = np.deg2rad(ang)
        ang[:, 0::2], ang[:, 1::2] = np.sin(ang[:, 0::2]), np.cos(ang[:, 1::2])
        self.register_buffer("P", torch.tensor(ang, dtype=torch.float32).unsqueeze(0), persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:, :X.shape[1]])


# %% wrong_dropout_in_eval: dropout active in eval too
# kind: mistake
# breaks: modes
# equals: pos-dropout-in-evaluation

import torch
import torch.nn.functional as F
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.p = dropout
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.register_buffer("P", torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[None, :, :num_hiddens], persistent=False)

    def forward(self, X):
        return F.dropout(X + self.P[:, :X.shape[1]], self.p)


# %% wrong_dropout_on_p_only: dropout on the positions only
# kind: mistake
# breaks: modes
# equals: pos-dropout-on-positions

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.register_buffer("P", torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[None, :, :num_hiddens], persistent=False)

    def forward(self, X):
        return X + self.dropout(self.P[:, :X.shape[1]].expand_as(X))


# %% wrong_dropout_on_x_only: dropout on X before the positions are added
# kind: mistake
# breaks: modes
# equals: pos-dropout-on-words

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.register_buffer("P", torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[None, :, :num_hiddens], persistent=False)

    def forward(self, X):
        return self.dropout(X) + self.P[:, :X.shape[1]]


# %% wrong_exponent_doubled: exponent doubled: 2 times a column that already goes in steps of two
# kind: mistake
# breaks: values
# equals: pos-exponent-doubled

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        P = torch.zeros(max_len, num_hiddens)
        pos = torch.arange(max_len).float()
        for i in range(0, num_hiddens, 2):
            P[:, i] = torch.sin(pos / 10000 ** (2 * i / num_hiddens))
            if i + 1 < num_hiddens:
                P[:, i + 1] = torch.cos(pos / 10000 ** (2 * i / num_hiddens))
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return self.drop(X + self.P[:X.shape[1]])


# %% wrong_exponent_i_over_d: exponent i/d instead of 2i/d
# kind: mistake
# breaks: values
# equals: pos-exponent-counts-pairs

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        half = (num_hiddens + 1) // 2
        pos = torch.arange(max_len, dtype=torch.float32).unsqueeze(1)
        freq = torch.pow(10000, torch.arange(half, dtype=torch.float32) / num_hiddens)
        P = torch.zeros(1, max_len, num_hiddens)
        P[:, :, 0::2] = torch.sin(pos / freq)
        P[:, :, 1::2] = torch.cos(pos / freq)[:, :num_hiddens // 2]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:, :X.shape[1]])


# %% wrong_float32_table: the book's encoding: table moved to X's device, but always float32
# kind: policy
# later: precision
# equals: nothing

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    """Positional encoding"""
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super(PositionalEncoding, self).__init__()
        self.dropout = nn.Dropout(dropout)
        # Create a long enough P
        self.P = torch.zeros((1, max_len, num_hiddens))
        X = torch.arange(max_len, dtype=torch.float32).reshape(
            -1, 1) / torch.pow(10000, torch.arange(
            0, num_hiddens, 2, dtype=torch.float32) / num_hiddens)
        self.P[:, :, 0::2] = torch.sin(X)
        self.P[:, :, 1::2] = torch.cos(X)[:, :num_hiddens // 2]

    def forward(self, X):
        X = X + self.P[:, :X.shape[1], :].to(X.device)
        return self.dropout(X)


# %% wrong_halves: halves (sin then cos) instead of interleaved
# kind: different
# breaks: values
# equals: pos-halves

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        inv_freq = 1.0 / (10000 ** (torch.arange(0.0, num_hiddens, 2.0) / num_hiddens))
        sinusoid = torch.outer(torch.arange(float(max_len)), inv_freq)
        P = torch.cat([sinusoid.sin(), sinusoid.cos()], dim=-1)[:, :num_hiddens]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:X.shape[1]])


# %% wrong_integer_exponent: exponent by integer division: every frequency is 1
# kind: mistake
# breaks: values
# equals: pos-exponent-rounded

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        X = torch.arange(max_len).reshape(-1, 1) / 10000 ** (torch.arange(0, num_hiddens, 2) // num_hiddens)
        P = torch.zeros((1, max_len, num_hiddens))
        P[:, :, 0::2] = torch.sin(X)
        P[:, :, 1::2] = torch.cos(X)[:, :num_hiddens // 2]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:, :X.shape[1], :])


# %% wrong_learned: learned positions
# kind: different
# breaks: values
# equals: nothing

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.pos = nn.Parameter(torch.randn(1, max_len, num_hiddens) * 0.02)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X):
        return self.dropout(X + self.pos[:, :X.shape[1]])


# %% wrong_log10: log10 where the natural logarithm belongs
# kind: mistake
# breaks: values
# equals: pos-decimal-logarithm

import math
import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(0, max_len).unsqueeze(1).float()
        div_term = torch.exp(torch.arange(0, num_hiddens, 2).float() * -(math.log10(10000.0) / num_hiddens))
        pe = torch.zeros(max_len, num_hiddens)
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term[:num_hiddens // 2])
        self.register_buffer("pe", pe.unsqueeze(0), persistent=False)

    def forward(self, x):
        return self.dropout(x + self.pe[:, :x.size(1)])


# %% wrong_multiplies: positions multiplied onto X
# kind: mistake
# breaks: values
# equals: pos-multiplied

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.register_buffer("P", torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[None, :, :num_hiddens], persistent=False)

    def forward(self, X):
        return self.dropout(X * self.P[:, :X.shape[1]])


# %% wrong_mutates_x: X += P mutates the input
# kind: mistake
# breaks: purity
# equals: pos-input-changed

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        P = torch.zeros(1, max_len, num_hiddens)
        X = torch.arange(max_len, dtype=torch.float32).reshape(-1, 1) / torch.pow(
            10000, torch.arange(0, num_hiddens, 2, dtype=torch.float32) / num_hiddens)
        P[:, :, 0::2] = torch.sin(X)
        P[:, :, 1::2] = torch.cos(X[:, :num_hiddens // 2])
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        X += self.P[:, :X.shape[1], :]
        return self.dropout(X)


# %% wrong_no_dropout: dropout missing
# kind: mistake
# breaks: modes
# equals: pos-no-dropout

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        P = torch.stack((angles.sin(), angles.cos()), dim=2).flatten(1)[:, :num_hiddens]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return X + self.P[:X.shape[1]]


# %% wrong_plain_attribute: P a plain attribute and never moved to X's device
# kind: policy
# later: device, precision
# equals: pos-table-left-behind

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.P = torch.zeros((1, max_len, num_hiddens))
        X = torch.arange(max_len, dtype=torch.float32).reshape(-1, 1) / torch.pow(
            10000, torch.arange(0, num_hiddens, 2, dtype=torch.float32) / num_hiddens)
        self.P[:, :, 0::2] = torch.sin(X)
        self.P[:, :, 1::2] = torch.cos(X[:, :num_hiddens // 2])

    def forward(self, X):
        X = X + self.P[:, :X.shape[1], :]
        return self.dropout(X)


# %% wrong_positions_from_one: positions start at 1
# kind: mistake
# breaks: values
# equals: pos-from-one

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        i = torch.arange(1, max_len + 1).view(-1, 1)
        angles = i / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        P = torch.empty(max_len, num_hiddens)
        P[:, 0::2], P[:, 1::2] = angles.sin(), angles.cos()[:, :num_hiddens // 2]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[None, :X.shape[1]])


# %% wrong_returns_only_p: returns only P
# kind: different
# breaks: values
# equals: pos-words-lost

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.register_buffer("P", torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[None, :, :num_hiddens], persistent=False)

    def forward(self, X):
        B, T, D = X.shape
        return self.dropout(self.P[:, :T].expand(B, T, D))


# %% wrong_same_position: position 0 added at every step
# kind: mistake
# breaks: values
# equals: pos-every-step-is-first

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.register_buffer("P", torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[:, :num_hiddens], persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[0])


# %% wrong_scales_x: X times the root of D inside
# kind: different
# breaks: values
# equals: pos-words-scaled

import math
import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.scale = math.sqrt(num_hiddens)
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.register_buffer("P", torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[None, :, :num_hiddens], persistent=False)

    def forward(self, X):
        return self.dropout(X * self.scale + self.P[:, :X.shape[1]])


# %% wrong_sin_cos_swapped: cos in the even columns, sin in the odd ones
# kind: mistake
# breaks: values
# equals: pos-sine-cosine-exchanged

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        X = torch.arange(max_len, dtype=torch.float32).reshape(-1, 1) / torch.pow(
            10000, torch.arange(0, num_hiddens, 2, dtype=torch.float32) / num_hiddens)
        P = torch.zeros((1, max_len, num_hiddens))
        P[:, :, 0::2] = torch.cos(X)
        P[:, :, 1::2] = torch.sin(X)[:, :num_hiddens // 2]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:, :X.shape[1], :])


# %% wrong_slice_by_batch: slices by batch size instead of length
# kind: mistake
# breaks: shapes, values
# equals: pos-sliced-by-batch

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        P = torch.zeros(1, max_len, num_hiddens)
        X = torch.arange(max_len).float()[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2).float() / num_hiddens)
        P[..., 0::2] = X.sin()
        P[..., 1::2] = X.cos()[:, :num_hiddens // 2]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:, :X.size(0)])


# %% wrong_table_by_batch: one position per sequence of the batch: (B, 1, D) added
# kind: mistake
# breaks: values
# equals: pos-by-batch

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    # pe[:x.size(0)] belongs to inputs of shape (T, B, D)
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, num_hiddens, 2) * (-torch.log(torch.tensor(10000.0)) / num_hiddens))
        pe = torch.zeros(max_len, 1, num_hiddens)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)[:, :num_hiddens // 2]
        self.register_buffer('pe', pe, persistent=False)

    def forward(self, x):
        x = x + self.pe[:x.size(0)]
        return self.dropout(x)


# %% wrong_x_detached: X.data used: no gradient through the encoding
# kind: mistake
# breaks: gradients
# equals: pos-words-detached

import torch
from torch import nn

class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        angles = torch.arange(max_len)[:, None] / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        self.register_buffer("P", torch.stack((angles.sin(), angles.cos()), 2).flatten(1)[None, :, :num_hiddens], persistent=False)

    def forward(self, X):
        out = X.data + self.P[:, :X.shape[1]]
        return self.dropout(out)


# %% wrong_positions_from_one_too: the table starts with position 1
# kind: mistake
# breaks: defaults, values
# equals: pos-from-one

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    """Sinusoids for the positions 1 ... max_len."""

    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        P = torch.zeros((1, max_len, num_hiddens), dtype=torch.float64)
        # the words of a sentence are numbered from 1 to max_len
        pos = torch.arange(1, max_len + 1, dtype=torch.float64).reshape(-1, 1)
        freq = torch.pow(10000, torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens)
        angles = pos / freq
        P[:, :, 0::2] = torch.sin(angles)
        P[:, :, 1::2] = torch.cos(angles[:, : num_hiddens // 2])
        self.register_buffer("P", P.float(), persistent=False)

    def forward(self, X):
        return self.dropout(X + self.P[:, : X.shape[1], :].to(X.dtype))


# %% wrong_scales_input: X is multiplied by the square root of D inside the encoding
# kind: mistake
# breaks: defaults, gradients, values
# equals: pos-words-scaled

import math

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.num_hiddens = num_hiddens
        self.dropout = nn.Dropout(dropout)
        P = torch.zeros((1, max_len, num_hiddens))
        X = torch.arange(max_len, dtype=torch.float64).reshape(-1, 1) / torch.pow(
            10000, torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens
        )
        P[:, :, 0::2] = torch.sin(X).float()
        P[:, :, 1::2] = torch.cos(X).float()[:, : num_hiddens // 2]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        # make the embedding relatively larger than the positions
        X = X * math.sqrt(self.num_hiddens)
        X = X + self.P[:, : X.shape[1], :].to(X.dtype)
        return self.dropout(X)


# %% wrong_running_offset: a counter of steps seen makes the next call go on where the last one ended
# kind: mistake
# breaks: modes, purity
# equals: pos-counts-on

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.max_len = max_len
        self.start = 0
        exponent = torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens
        angle = torch.arange(max_len, dtype=torch.float64)[:, None] / 10000**exponent
        P = torch.zeros(max_len, num_hiddens)
        P[:, 0::2] = angle.sin().float()
        P[:, 1::2] = angle.cos().float()[:, : num_hiddens // 2]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X):
        steps = X.shape[1]
        if self.start + steps > self.max_len:
            self.start = 0
        # continue where the last piece of the sentence stopped
        rows = self.P[self.start : self.start + steps].to(X.dtype)
        self.start += steps
        return self.dropout(X + rows)


# %% wrong_positions_no_column: positions (max_len,) divided by frequencies (D/2,) without a column
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        position = torch.arange(max_len, dtype=torch.float64)
        freq = torch.pow(10000, torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens)
        angle = position / freq
        P = torch.zeros(1, max_len, num_hiddens)
        P[0, :, 0::2] = torch.sin(angle)
        P[0, :, 1::2] = torch.cos(angle)
        self.register_buffer("P", P)

    def forward(self, X):
        return self.dropout(X + self.P[:, : X.shape[1]])


# %% wrong_own_exponent_and_early_dropout: the cosine uses its own column in the exponent, and dropout is on the table
# kind: mistake
# breaks: defaults, modes, values
# equals: pos-cosine-of-next-column+pos-dropout-on-positions

import numpy as np
import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens, dropout, max_len=1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        # as in the numpy version: one angle for each (position, column)
        pos = np.arange(max_len)[:, np.newaxis]
        col = np.arange(num_hiddens)[np.newaxis, :]
        angle = pos / np.power(10000.0, col / num_hiddens)
        angle[:, 0::2] = np.sin(angle[:, 0::2])
        angle[:, 1::2] = np.cos(angle[:, 1::2])
        self.register_buffer("P", torch.from_numpy(angle).float().unsqueeze(0), persistent=False)

    def forward(self, X):
        encoding = self.dropout(self.P[:, : X.size(1)].to(X.dtype))
        return X + encoding


# %% right_complex_numbers: the parts of complex numbers from polar, interleaved with view_as_real
# kind: same

import math

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 1000):
        super().__init__()
        self.p = dropout
        # a hand of a clock is a complex number: exp(i * angle) = cos + i sin.
        # I want (sin, cos), so I use the angle pi/2 - angle
        steps = torch.arange(max_len, dtype=torch.float64)
        speed = torch.logspace(0, -4 * (2 * ((num_hiddens - 1) // 2)) / num_hiddens, (num_hiddens + 1) // 2, dtype=torch.float64)
        angle = steps[:, None] * speed
        hands = torch.polar(torch.ones_like(angle), math.pi / 2 - angle)
        table = torch.view_as_real(hands).flatten(1)[:, :num_hiddens]  # odd D: drop the last cosine
        self.register_buffer("P", table[None], persistent=False)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        rows = self.P.narrow(1, 0, X.shape[-2]).to(X)
        return nn.functional.dropout(torch.add(X, rows), self.p, training=self.training)


# %% wrong_start_and_exponent: two mistakes: positions from 1, and the exponent j/D
# kind: mistake
# breaks: defaults, values
# equals: pos-from-one+pos-exponent-counts-pairs

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        n_pairs = (num_hiddens + 1) // 2
        i = torch.arange(1, max_len + 1, dtype=torch.float64)
        j = torch.arange(n_pairs, dtype=torch.float64)
        angles = torch.outer(i, 1.0 / torch.pow(10000, j / num_hiddens))  # (max_len, pairs)
        both = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (max_len, pairs, 2)
        P = both.reshape(1, max_len, 2 * n_pairs)[:, :, :num_hiddens]
        self.register_buffer("P", P, persistent=False)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        P = self.P[:, : X.size(1), :].to(X.dtype)
        return self.dropout(X + P)


# %% wrong_table_stays_float64: the float64 table is never rounded, so a float32 input gives a float64 output
# kind: mistake
# breaks: shapes
# equals: nothing

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 1000):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        # float64 because of the rounding errors at position 1000
        pos = torch.arange(max_len, dtype=torch.float64).reshape(-1, 1)
        freq = 10000 ** (-torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens)
        P = torch.zeros(1, max_len, num_hiddens, dtype=torch.float64)
        P[0, :, 0::2] = torch.sin(pos * freq)
        P[0, :, 1::2] = torch.cos(pos * freq)[:, : num_hiddens // 2]  # one less if D is odd
        self.register_buffer("P", P, persistent=False)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        T = X.shape[1]
        return self.dropout(X + self.P[:, :T])


# %% wrong_two_axes_table: a table with two axes is sliced as if it had three
# kind: mistake
# breaks: defaults, shapes, values
# equals: nothing

import torch
from torch import nn


class PositionalEncoding(nn.Module):
    def __init__(self, num_hiddens: int, dropout: float, max_len: int = 1000):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        table = torch.zeros(max_len, num_hiddens, dtype=torch.double)
        for j in range(0, num_hiddens, 2):
            w = 1 / 10000 ** (j / num_hiddens)
            angle = torch.arange(max_len, dtype=torch.double) * w
            table[:, j] = torch.sin(angle)
            if j + 1 < num_hiddens:
                table[:, j + 1] = torch.cos(angle)
        self.register_buffer("P", table.float(), persistent=False)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        # P broadcasts over the batch
        summe = X + self.P[:, : X.shape[1]].to(X.dtype)
        return self.drop(summe)
