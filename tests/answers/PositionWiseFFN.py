# %% right_book: the book's feed-forward network
# kind: same

from torch import nn

class PositionWiseFFN(nn.Module):
    """Positionwise feed-forward network"""
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs,
                 **kwargs):
        super(PositionWiseFFN, self).__init__(**kwargs)
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.relu = nn.ReLU()
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        return self.dense2(self.relu(self.dense1(X)))


# %% right_conv1d: FFN by Conv1d(kernel_size=1)
# kind: same

from torch import nn

class PositionWiseFFN(nn.Module):
    """'Another way of describing this is as two convolutions with kernel size 1.'"""
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Conv1d(ffn_num_input, ffn_num_hiddens, kernel_size=1)
        self.dense2 = nn.Conv1d(ffn_num_hiddens, ffn_num_outputs, kernel_size=1)

    def forward(self, X):
        X = X.permute(0, 2, 1)               # channels are the features
        return self.dense2(self.dense1(X).relu()).permute(0, 2, 1)


# %% right_loop: one position at a time
# kind: same

import torch
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def one(self, x):
        h = self.dense1(x)
        h = torch.maximum(h, torch.zeros_like(h))
        return self.dense2(h)

    def forward(self, X):
        res = []
        for t in range(X.shape[1]):
            res.append(self.one(X[:, t]))
        return torch.stack(res, dim=1)


# %% right_matmul: matrix products on flattened positions
# kind: same

import torch
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        rows = X.reshape(-1, X.shape[-1])
        hidden = torch.addmm(self.dense1.bias, rows, self.dense1.weight.t())
        hidden = torch.where(hidden > 0, hidden, 0)
        out = hidden @ self.dense2.weight.t() + self.dense2.bias
        return out.view(*X.shape[:-1], -1)


# %% right_relu_inplace_hidden: in-place ReLU on the hidden layer
# kind: same

import torch.nn.functional as F
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        return self.dense2(F.relu_(self.dense1(X)))


# %% wrong_conv_width_three: convolution over three neighbouring positions
# kind: mistake
# breaks: values
# equals: ffn-neighbours-mixed

import torch
from torch import nn
import torch.nn.functional as F

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Conv1d(ffn_num_input, ffn_num_hiddens, kernel_size=3, padding=1)
        self.dense2 = nn.Conv1d(ffn_num_hiddens, ffn_num_outputs, kernel_size=3, padding=1)

    def forward(self, X):
        X = X.transpose(1, 2)
        X = self.dense2(F.relu(self.dense1(X)))
        return X.transpose(1, 2)


# %% wrong_dropout_inside: dropout of 0.1 between the layers
# kind: different
# breaks: modes
# equals: ffn-dropout-inside

from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)
        self.dropout = nn.Dropout(0.1)

    def forward(self, X):
        return self.dense2(self.dropout(self.dense1(X).relu()))


# %% wrong_gelu: GELU instead of ReLU
# kind: different
# breaks: values
# equals: ffn-gelu

import torch.nn as nn
import torch.nn.functional as F

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, x):
        return self.dense2(F.gelu(self.dense1(x)))


# %% wrong_leaky: LeakyReLU instead of ReLU
# kind: different
# breaks: values
# equals: ffn-leaky

from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)
        self.act = nn.LeakyReLU()

    def forward(self, X):
        return self.dense2(self.act(self.dense1(X)))


# %% wrong_mixes_positions: normalises/mixes over positions (mean over T added)
# kind: mistake
# breaks: values
# equals: ffn-hidden-mixed

import torch
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        H = torch.relu(self.dense1(X))
        H = H + H.mean(dim=1, keepdim=True)
        return self.dense2(H)


# %% wrong_no_activation: no activation
# kind: mistake
# breaks: values
# equals: ffn-no-activation

from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        return self.dense2(self.dense1(X))


# %% wrong_no_bias: bias=False
# kind: different
# breaks: values
# equals: ffn-no-bias

from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs, **kwargs):
        super(PositionWiseFFN, self).__init__(**kwargs)
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens, bias=False)
        self.relu = nn.ReLU()
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs, bias=False)

    def forward(self, X):
        return self.dense2(self.relu(self.dense1(X)))


# %% wrong_no_grad_hidden: hidden layer computed without gradient
# kind: mistake
# breaks: gradients
# equals: ffn-hidden-detached

import torch
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        with torch.no_grad():
            hidden = self.dense1(X).relu()
        return self.dense2(hidden)


# %% wrong_output_size: second layer goes back to the input size
# kind: mistake
# breaks: values
# equals: ffn-back-to-input-size

from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_input)

    def forward(self, X):
        return self.dense2(nn.functional.relu(self.dense1(X)))


# %% wrong_relu_in_place_on_x: ReLU written into the input before the first layer
# kind: mistake
# breaks: purity, values
# equals: ffn-input-overwritten

from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.relu = nn.ReLU(inplace=True)
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        X = self.relu(X)
        return self.dense2(self.dense1(X))


# %% wrong_relu_last: ReLU behind the second layer too
# kind: mistake
# breaks: values
# equals: ffn-relu-at-the-end-too

from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)
        self.act = nn.ReLU()

    def forward(self, X):
        X = self.act(self.dense1(X))
        return self.act(self.dense2(X))


# %% wrong_relu_misplaced: ReLU behind the second layer only
# kind: mistake
# breaks: values
# equals: ffn-relu-at-the-end-only

import torch
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        return torch.relu(self.dense2(self.dense1(X)))


# %% wrong_relu_on_input: ReLU on the input
# kind: mistake
# breaks: values
# equals: ffn-relu-on-input

from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        return self.dense2(self.dense1(X.clamp(min=0)))


# %% wrong_residual_inside: residual added inside
# kind: mistake
# breaks: values
# equals: ffn-residual-inside

import torch.nn.functional as F
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        Y = self.dense2(F.relu(self.dense1(X)))
        return X + Y if X.shape == Y.shape else Y


# %% wrong_straight_through: the step of ReLU has no gradient: (x > 0) * x.detach()
# kind: mistake
# breaks: gradients
# equals: ffn-relu-behind-gradients-back

from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        h = self.dense1(X)
        h = h - h.detach() + h.detach() * (h > 0)
        return self.dense2(h)


# %% wrong_tanh: tanh instead of ReLU
# kind: different
# breaks: values
# equals: ffn-tanh

import torch
from torch import nn

class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        return self.dense2(self.dense1(X).tanh())


# %% wrong_stays_flat: batch and steps are merged and never split again
# kind: mistake
# breaks: gradients, modes, shapes, values
# equals: ffn-stays-flat

import torch
from torch import nn


class PositionWiseFFN(nn.Module):
    """Apply the same two layers to each position."""

    def __init__(self, ffn_num_input, ffn_num_hiddens, ffn_num_outputs):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.relu = nn.ReLU()
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X):
        # one row for each position of each sentence
        rows = X.reshape(-1, X.shape[-1])
        return self.dense2(self.relu(self.dense1(rows)))


# %% wrong_dense2_sizes: the second layer takes the size of the input
# kind: mistake
# breaks: purity, shapes, values
# equals: nothing

import torch
from torch import nn


class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input: int, ffn_num_hiddens: int, ffn_num_outputs: int):
        super().__init__()
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_input, ffn_num_outputs)
        self.act = nn.ReLU()

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        H = self.act(self.dense1(X))  # (B, T, ffn_num_hiddens)
        return self.dense2(H)  # (B, T, ffn_num_outputs)


# %% wrong_relu_in_loop: a loop applies ReLU after both layers
# kind: mistake
# breaks: gradients, values
# equals: ffn-relu-at-the-end-too

import torch
from torch import nn


class PositionWiseFFN(nn.Module):
    def __init__(self, ffn_num_input: int, ffn_num_hiddens: int, ffn_num_outputs: int):
        super().__init__()
        # like my MLP from the last course, a list of layers with relu
        self.dense1 = nn.Linear(ffn_num_input, ffn_num_hiddens)
        self.dense2 = nn.Linear(ffn_num_hiddens, ffn_num_outputs)

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        for layer in (self.dense1, self.dense2):
            X = layer(X).relu()
        return X
