# %% right_one_line: the formula as it stands
# kind: same

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model: int, d_hidden: int):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


# %% right_sigmoid_by_hand: SiLU written with a sigmoid, weights applied by F.linear
# kind: same

import torch
import torch.nn.functional as F
from torch import nn


def swish(z):
    return z * torch.sigmoid(z)


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        for name, sizes in dict(W_up=(d_model, d_hidden), W_gate=(d_model, d_hidden), W_down=(d_hidden, d_model)).items():
            setattr(self, name, nn.Linear(*sizes, bias=False))

    def forward(self, x):
        up = F.linear(x, self.W_up.weight)
        gate = swish(F.linear(x, self.W_gate.weight))
        return F.linear(up * gate, self.W_down.weight)


# %% right_w1_w2_w3: names and order of Llama and CS336
# kind: same

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.w1 = nn.Linear(d_model, d_hidden, bias=False)
        self.w2 = nn.Linear(d_hidden, d_model, bias=False)
        self.w3 = nn.Linear(d_model, d_hidden, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


# %% right_fused: gate and up in one layer, gate first
# kind: same

import torch
from torch import nn
from torch.nn import functional as F


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.gate_up_proj = nn.Linear(d_model, 2 * d_hidden, bias=False)
        self.down_proj = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate, up = torch.chunk(self.gate_up_proj(x), 2, dim=-1)
        return self.down_proj(up * F.silu(gate))


# %% right_slices_of_hidden: the hidden features in slices, whose parts of the output are added
# kind: same

from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)
        self.act = nn.SiLU()
        self.d_hidden = d_hidden

    def forward(self, x):
        step = max(1, self.d_hidden // 2)
        out = 0
        for a in range(0, self.d_hidden, step):
            s = slice(a, a + step)
            h = self.act(x @ self.W_gate.weight[s].T) * (x @ self.W_up.weight[s].T)
            out = out + h @ self.W_down.weight[:, s].T
        return out


# %% right_hugging_face: gate_proj, up_proj, down_proj and an activation module that works in place on its own tensor
# kind: same

from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.gate_proj = nn.Linear(d_model, d_hidden, bias=False)
        self.up_proj = nn.Linear(d_model, d_hidden, bias=False)
        self.down_proj = nn.Linear(d_hidden, d_model, bias=False)
        self.act_fn = nn.SiLU(inplace=True)

    def forward(self, x):
        return self.down_proj(self.act_fn(self.gate_proj(x)).mul(self.up_proj(x)))


# %% wrong_exchanged: SiLU on up instead of gate
# kind: mistake
# breaks: gradients, values
# equals: glu-exchanged

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(self.W_gate(x) * F.silu(self.W_up(x)))


# %% wrong_silu_of_product: SiLU on the product of gate and up
# kind: mistake
# breaks: gradients, values
# equals: glu-silu-of-product

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate, up = self.W_gate(x), self.W_up(x)
        return self.W_down(F.silu(gate * up))


# %% wrong_silu_on_both: both halves go through SiLU
# kind: mistake
# breaks: gradients, values
# equals: glu-silu-of-both

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        a, b = (F.silu(layer(x)) for layer in (self.W_gate, self.W_up))
        return self.W_down(a * b)


# %% wrong_sigmoid_gate: a plain GLU: the gate is a sigmoid
# kind: mistake
# breaks: gradients, values
# equals: glu-sigmoid

import torch
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(torch.sigmoid(self.W_gate(x)) * self.W_up(x))


# %% wrong_gelu: GEGLU: GELU in place of SiLU
# kind: different
# breaks: gradients, values
# equals: glu-gelu

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.gelu(self.W_gate(x)) * self.W_up(x))


# %% wrong_no_gate: a plain network of two layers with SiLU
# kind: different
# breaks: gradients, shapes, values
# equals: glu-plain

from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)
        self.act = nn.SiLU()

    def forward(self, x):
        return self.W_down(self.act(self.W_up(x)))


# %% wrong_biases: nn.Linear with its default bias
# kind: mistake
# breaks: gradients, shapes, values
# equals: glu-with-bias

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden)
        self.W_up = nn.Linear(d_model, d_hidden)
        self.W_down = nn.Linear(d_hidden, d_model)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


# %% wrong_sum: gate and up are added
# kind: mistake
# breaks: gradients, values
# equals: glu-sum

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) + self.W_up(x))


# %% wrong_dropout_inside: dropout of the hidden features while training
# kind: mistake
# breaks: modes
# equals: nothing

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden, dropout=0.1):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        return self.W_down(self.dropout(F.silu(self.W_gate(x)) * self.W_up(x)))


# %% wrong_residual_inside: the input is added here already
# kind: mistake
# breaks: gradients, values
# equals: glu-residual

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        h = F.silu(self.W_gate(x)) * self.W_up(x)
        return x + self.W_down(h)


# %% wrong_own_hidden_size: the hidden size is computed here, whatever d_hidden says
# kind: mistake
# breaks: gradients, shapes, values
# equals: glu-own-hidden

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        hidden = int(2 * d_hidden / 3)
        self.W_gate = nn.Linear(d_model, hidden, bias=False)
        self.W_up = nn.Linear(d_model, hidden, bias=False)
        self.W_down = nn.Linear(hidden, d_model, bias=False)

    def forward(self, x):
        return self.W_down(F.silu(self.W_gate(x)) * self.W_up(x))


# %% wrong_silu_before_the_layer: SiLU on the input of the gate instead of its output
# kind: mistake
# breaks: gradients, values
# equals: glu-silu-before

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = self.W_gate(F.silu(x))
        return self.W_down(gate * self.W_up(x))


# %% wrong_one_layer_twice: the up layer is made and never used: gate times its own SiLU
# kind: mistake
# breaks: gradients, values
# equals: glu-gate-twice

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        h = self.W_gate(x)
        return self.W_down(F.silu(h) * h)


# %% wrong_last_silu: SiLU once more on the result
# kind: mistake
# breaks: gradients, values
# equals: glu-silu-after

from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)
        self.silu = nn.SiLU()

    def forward(self, x):
        return self.silu(self.W_down(self.silu(self.W_gate(x)) * self.W_up(x)))


# %% wrong_gate_detached: no gradient flows through the gate
# kind: mistake
# breaks: gradients
# equals: glu-gate-detached

import torch.nn.functional as F
from torch import nn


class SwiGLU(nn.Module):
    def __init__(self, d_model, d_hidden):
        super().__init__()
        self.W_gate = nn.Linear(d_model, d_hidden, bias=False)
        self.W_up = nn.Linear(d_model, d_hidden, bias=False)
        self.W_down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(self, x):
        gate = F.silu(self.W_gate(x)).detach()
        return self.W_down(gate * self.W_up(x))
