# %% right_sdpa: scaled_dot_product_attention
# kind: same

import torch
import torch.nn.functional as F
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int, base: float = 10000.0) -> None:
        super().__init__()
        head, rest = divmod(d_model, num_heads)
        if rest or head % 2:
            raise ValueError(f"{d_model} features cannot be {num_heads} heads of pairs")
        for name in "qkvo":
            self.add_module(f"W_{name}", nn.Linear(d_model, d_model, bias=False))
        self.heads = num_heads
        self.base = base

    def forward(self, x, positions=None):
        if positions is None:
            positions = torch.arange(x.shape[-2], device=x.device)
        split = lambda y: y.unflatten(-1, (self.heads, -1)).movedim(-2, 1)
        q, k = (apply_rotary(split(W(x)), positions, base=self.base) for W in (self.W_q, self.W_k))
        y = F.scaled_dot_product_attention(q, k, split(self.W_v(x)), is_causal=True)
        return self.W_o(y.movedim(1, -2).flatten(-2))


# %% right_head_by_head: a loop over heads, with slices of the weights, and a softmax by hand
# kind: same

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        T, d = x.shape[1], self.d
        if positions is None:
            positions = torch.arange(T, device=x.device)
        outs = []
        for h in range(self.num_heads):
            rows = slice(h * d, (h + 1) * d)
            q = (x @ self.W_q.weight[rows].T).unsqueeze(1)  # (B, 1, T, d)
            k = (x @ self.W_k.weight[rows].T).unsqueeze(1)
            v = x @ self.W_v.weight[rows].T
            q, k = (apply_rotary(one, positions, base=self.base)[:, 0] for one in (q, k))
            s = torch.bmm(q, k.mT) * d**-0.5
            s = s - s.amax(dim=-1, keepdim=True).detach()
            w = s.exp().tril()
            outs.append((w / w.sum(-1, keepdim=True)) @ v)
        return self.W_o(torch.cat(outs, dim=-1))


# %% right_step_by_step: one step after the other, each sees a prefix
# kind: same

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        positions = torch.arange(T, device=x.device) if positions is None else positions
        q, k, v = (W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v))
        q, k = apply_rotary(q, positions, base=self.base), apply_rotary(k, positions, base=self.base)
        steps = []
        for t in range(T):
            score = (k[:, :, : t + 1] * q[:, :, t : t + 1]).sum(-1) / self.d**0.5  # (B, H, t + 1)
            steps.append((score.softmax(-1).unsqueeze(-1) * v[:, :, : t + 1]).sum(2))
        return self.W_o(torch.stack(steps, dim=1).reshape(B, T, D))


# %% right_complex_scores: the score is the real part of a product of complex numbers; a bias of -inf is the mask
# kind: same

import torch
from torch import nn


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        self.W_q, self.W_k, self.W_v, self.W_o = (nn.Linear(d_model, d_model, bias=False) for _ in range(4))
        self.H, self.base = num_heads, base

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if D % (2 * self.H):
            raise ValueError("heads must have pairs")
        d = D // self.H
        if positions is None:
            positions = torch.arange(T)
        positions = positions.to(x.device).expand(B, T)
        speed = self.base ** (-torch.arange(0, d, 2, device=x.device) / d)
        angle = (positions[:, :, None] * speed)[:, :, None]  # (B, T, 1, d/2)
        turn = torch.complex(angle.cos(), angle.sin())
        q, k = (torch.view_as_complex(W(x).float().reshape(B, T, self.H, d // 2, 2)) * turn for W in (self.W_q, self.W_k))
        score = torch.einsum("bqhp,bkhp->bhqk", q, k.conj()).real / d**0.5
        score = score + torch.full((T, T), -torch.inf, device=x.device).triu(1)
        v = self.W_v(x).reshape(B, T, self.H, d)
        return self.W_o(torch.einsum("bhqk,bkhd->bqhd", score.softmax(-1).to(x.dtype), v).flatten(2))


# %% right_shifted: queries and keys both turned from position 1 on
# kind: same

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        positions = positions + 1  # like a BOS token in front
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions, base=self.base)
        k = apply_rotary(k, positions, base=self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_values_turned: values are turned as well
# kind: mistake
# breaks: values, masking, gradients
# equals: ra-values-turned

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions, base=self.base)
        k = apply_rotary(k, positions, base=self.base)
        v = apply_rotary(v, positions, base=self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_turned_before_split: turns all D features of the model at once, then splits
# kind: mistake
# breaks: values, masking, gradients
# equals: ra-turned-before-split

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q = apply_rotary(self.W_q(x).unsqueeze(1), positions, base=self.base)
        k = apply_rotary(self.W_k(x).unsqueeze(1), positions, base=self.base)
        q, k, v = [y.view(B, T, self.num_heads, self.d).transpose(1, 2) for y in (q, k, self.W_v(x))]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_mask_from_positions: a key is visible if its position is not later
# kind: mistake
# breaks: values, masking, gradients
# equals: ra-mask-by-positions

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions, base=self.base)
        k = apply_rotary(k, positions, base=self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = positions[..., None, :] > positions[..., :, None]
        if hidden.dim() == 3:
            hidden = hidden.unsqueeze(1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_keys_not_turned: turns the queries only
# kind: mistake
# breaks: values, masking, gradients
# equals: ra-only-queries

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions, base=self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_scale_of_model: divides by the root of d_model
# kind: mistake
# breaks: values, masking, gradients
# equals: ra-scaled-by-model

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions, base=self.base)
        k = apply_rotary(k, positions, base=self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(D)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_view_without_transpose: view(B, H, T, d) mixes steps and heads
# kind: mistake
# breaks: values, masking, gradients
# equals: ra-heads-of-steps

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, self.num_heads, T, self.d) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions, base=self.base)
        k = apply_rotary(k, positions, base=self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_merged_without_transpose: heads are merged without exchanging axes back
# kind: mistake
# breaks: values, masking, gradients
# equals: ra-heads-not-moved-back

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions, base=self.base)
        k = apply_rotary(k, positions, base=self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.reshape(B, T, D))


# %% wrong_positions_overwritten: always 0 to T - 1
# kind: mistake
# breaks: values, masking, gradients
# equals: ra-positions-ignored

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions, base=self.base)
        k = apply_rotary(k, positions, base=self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_diagonal_hidden: a step does not see itself; the first one, which sees nothing, gets zeros for NaN
# kind: mistake
# breaks: values, masking, gradients
# equals: ra-mask-not-itself

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions, base=self.base)
        k = apply_rotary(k, positions, base=self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=0)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1).nan_to_num(0.0) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_no_mask: no mask at all
# kind: mistake
# breaks: values, masking, gradients
# equals: ra-no-mask

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions, base=self.base)
        k = apply_rotary(k, positions, base=self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_base_not_kept: the base of the constructor is not used
# kind: mistake
# breaks: masking, gradients
# equals: ra-base-not-passed

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions)
        k = apply_rotary(k, positions)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_odd_heads_accepted: odd heads are padded by leaving the last feature as it is
# kind: mistake
# breaks: shapes
# equals: ra-odd-heads

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        e = self.d - self.d % 2
        q = torch.cat([apply_rotary(q[..., :e], positions, base=self.base), q[..., e:]], dim=-1)
        k = torch.cat([apply_rotary(k[..., :e], positions, base=self.base), k[..., e:]], dim=-1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_queries_one_ahead: queries stand one position after their keys
# kind: mistake
# breaks: values, masking, gradients
# equals: ra-queries-one-ahead

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions + 1, base=self.base)
        k = apply_rotary(k, positions, base=self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_turned_input: turns the input instead of queries and keys
# kind: mistake
# breaks: values, masking, gradients
# equals: ra-input-turned

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        turned = apply_rotary(x.view(B, T, self.num_heads, self.d).transpose(1, 2), positions, base=self.base)
        turned = turned.transpose(1, 2).reshape(B, T, D)
        q, k, v = [
            W(y).view(B, T, self.num_heads, self.d).transpose(1, 2)
            for W, y in ((self.W_q, turned), (self.W_k, turned), (self.W_v, x))
        ]
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_softmax_over_queries: the softmax runs over the queries
# kind: mistake
# breaks: values, masking, gradients
# equals: ra-softmax-over-queries

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions, base=self.base)
        k = apply_rotary(k, positions, base=self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-2) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_values_turned_and_not_scaled: values are turned, and scores are not divided
# kind: mistake
# breaks: values, masking, gradients

import math

import torch
from torch import nn

from grader.given import apply_rotary


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = apply_rotary(q, positions, base=self.base)
        k = apply_rotary(k, positions, base=self.base)
        v = apply_rotary(v, positions, base=self.base)
        scores = q @ k.transpose(-2, -1)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))


# %% wrong_halves: the convention of halves
# kind: different
# breaks: values, masking, gradients
# equals: ra-halves

import math

import torch
from torch import nn


def turn_halves(x, positions, base):
    d = x.shape[-1]
    angles = positions.unsqueeze(-1) * base ** (-torch.arange(0, d, 2, device=x.device) / d)
    if angles.dim() == 3:
        angles = angles.unsqueeze(1)
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()], dim=-1)


class RotaryAttention(nn.Module):
    def __init__(self, d_model, num_heads, base=10000.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("num_heads must divide d_model")
        if (d_model // num_heads) % 2 != 0:
            raise ValueError("a head needs an even number of features")
        self.num_heads, self.d, self.base = num_heads, d_model // num_heads, base
        self.W_q = nn.Linear(d_model, d_model, bias=False)
        self.W_k = nn.Linear(d_model, d_model, bias=False)
        self.W_v = nn.Linear(d_model, d_model, bias=False)
        self.W_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, positions=None):
        B, T, D = x.shape
        if positions is None:
            positions = torch.arange(T, device=x.device)
        q, k, v = [
            W(x).view(B, T, self.num_heads, self.d).transpose(1, 2) for W in (self.W_q, self.W_k, self.W_v)
        ]
        q = turn_halves(q, positions, self.base)
        k = turn_halves(k, positions, self.base)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        hidden = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(diagonal=1)
        scores = scores.masked_fill(hidden, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, D))
