# %% right_book: the book's AddNorm
# kind: same

from torch import nn

class AddNorm(nn.Module):
    """Residual connection followed by layer normalization"""
    def __init__(self, normalized_shape, dropout, **kwargs):
        super(AddNorm, self).__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        return self.ln(self.dropout(Y) + X)


# %% right_by_hand: LayerNorm by hand with parameters ln.weight and ln.bias
# kind: same

import torch
from torch import nn


class HandNorm(nn.Module):
    def __init__(self, shape, eps=1e-5):
        super().__init__()
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.axes = [-1 - j for j in range(len(shape))]
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(shape))
        self.bias = nn.Parameter(torch.zeros(shape))

    def forward(self, z):
        centred = z - z.mean(self.axes, keepdim=True)
        variance = centred.pow(2).mean(self.axes, keepdim=True)
        return centred * torch.rsqrt(variance + self.eps) * self.weight + self.bias


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = HandNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        return self.ln(self.dropout(Y) + X)


# %% right_functional: functional dropout and layer_norm
# kind: same

import torch.nn.functional as F
from torch import Tensor, nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout: float) -> None:
        super().__init__()
        self.p = dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X: Tensor, Y: Tensor) -> Tensor:
        Y = F.dropout(Y, p=self.p, training=self.training)
        return F.layer_norm(X + Y, self.ln.normalized_shape, self.ln.weight, self.ln.bias, self.ln.eps)


# %% right_own_dropout: dropout by a Bernoulli mask, rescaled
# kind: same

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.keep = 1 - dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        if self.training and self.keep < 1:
            mask = (torch.rand_like(Y) < self.keep).type_as(Y)
            Y = mask * Y / self.keep
        return self.ln(X + Y)


# %% right_std_mean: population deviation through torch.var_mean
# kind: same

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        total = torch.stack([X, self.dropout(Y)]).sum(0)
        dims = tuple(range(total.dim() - self.ln.weight.dim(), total.dim()))
        v, m = torch.var_mean(total, dims, correction=0, keepdim=True)
        return torch.addcmul(self.ln.bias, (total - m) / (v + 1e-5).sqrt(), self.ln.weight)


# %% wrong_affine_ignored: weight and bias are there but not used
# kind: mistake
# breaks: values
# equals: addnorm-affine-unused

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        S = X + self.dropout(Y)
        return nn.functional.layer_norm(S, self.ln.normalized_shape)


# %% wrong_annotated_std: unbiased std, eps outside the root (Annotated Transformer)
# kind: different
# breaks: values
# equals: addnorm-annotated

import torch
import torch.nn as nn

class LayerNorm(nn.Module):
    "Construct a layernorm module."
    def __init__(self, features, eps=1e-6):
        super(LayerNorm, self).__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.eps = eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        std = x.std(-1, keepdim=True)
        return self.weight * (x - mean) / (std + self.eps) + self.bias

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super(AddNorm, self).__init__()
        self.ln = LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        return self.ln(X + self.dropout(Y))


# %% wrong_batch_norm_axis: normalises over the steps, not over the features
# kind: mistake
# breaks: values
# equals: addnorm-over-steps

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)   # holds weight and bias
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        Z = self.dropout(Y) + X
        mean = Z.mean(dim=1, keepdim=True)
        var = Z.var(dim=1, keepdim=True, unbiased=False)
        return (Z - mean) / torch.sqrt(var + 1e-5) * self.ln.weight + self.ln.bias


# %% wrong_dropout_after_norm: dropout on the result of the norm
# kind: mistake
# breaks: modes
# equals: addnorm-dropout-after-norm

from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        return self.dropout(self.ln(X + Y))


# %% wrong_dropout_in_eval: dropout active in eval too
# kind: mistake
# breaks: modes
# equals: addnorm-dropout-in-evaluation

import torch
from torch import nn
from torch.nn import functional as F

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.rate = dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        Y = F.dropout(Y, self.rate)
        return self.ln(Y + X)


# %% wrong_dropout_not_rescaled: hand-made dropout without dividing by 1-p
# kind: mistake
# breaks: modes
# equals: addnorm-dropout-not-scaled

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.p = dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        if self.training:
            Y = Y * torch.bernoulli(torch.full_like(Y, 1 - self.p))
        return self.ln(X + Y)


# %% wrong_dropout_on_sum: dropout on the sum
# kind: mistake
# breaks: modes
# equals: addnorm-dropout-on-sum

from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.drop = nn.Dropout(p=dropout)

    def forward(self, X, Y):
        total = X + Y
        return self.ln(self.drop(total))


# %% wrong_dropout_on_x: dropout on X, not Y
# kind: mistake
# breaks: modes
# equals: addnorm-dropout-on-residual

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout, **kwargs):
        super(AddNorm, self).__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        return self.ln(self.dropout(X) + Y)


# %% wrong_eps_large: eps = 1e-2 instead of the default
# kind: mistake
# breaks: values
# equals: addnorm-large-eps

from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape, eps=1e-2)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        return self.ln(self.dropout(Y) + X)


# %% wrong_in_place_add: writes the sum into Y
# kind: mistake
# breaks: purity
# equals: addnorm-sum-into-new-part

from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        Y = self.dropout(Y)
        Y += X
        return self.ln(Y)


# %% wrong_no_affine: LayerNorm without affine parameters
# kind: mistake
# breaks: values
# equals: addnorm-no-affine

import torch.nn.functional as F
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape, elementwise_affine=False)
        self.p = dropout

    def forward(self, X, Y):
        return self.ln(X + F.dropout(Y, self.p, self.training))


# %% wrong_no_dropout: dropout missing
# kind: mistake
# breaks: modes
# equals: addnorm-no-dropout

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        return self.ln(torch.add(X, Y))


# %% wrong_no_residual: no residual
# kind: mistake
# breaks: values
# equals: addnorm-no-residual

from torch import nn

class AddNorm(nn.Module):
    """Normalise what the sub-layer gave."""
    def __init__(self, normalized_shape, dropout, **kwargs):
        super(AddNorm, self).__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        return self.ln(self.dropout(Y))


# %% wrong_norm_of_sublayer_only: normalises only the output of the sublayer: X + dropout(ln(Y))
# kind: different
# breaks: values
# equals: addnorm-norm-inside

import torch.nn as nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        return X + self.dropout(self.ln(Y))


# %% wrong_norm_of_y_first: X + LN twice: LN(X) + LN(Y)
# kind: mistake
# breaks: values
# equals: addnorm-normalised-apart

from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln, self.dropout = nn.LayerNorm(normalized_shape), nn.Dropout(dropout)

    def forward(self, X, Y):
        return self.ln(X) + self.ln(self.dropout(Y))


# %% wrong_residual_after: residual added again behind the norm
# kind: mistake
# breaks: values
# equals: addnorm-residual-twice

from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        out = self.ln(self.dropout(Y) + X)
        out = out + X
        return out


# %% wrong_statistics_detached: mean and deviation computed without gradient
# kind: mistake
# breaks: gradients
# equals: addnorm-statistics-detached

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        Z = X + self.dropout(Y)
        axes = tuple(range(-len(self.ln.normalized_shape), 0))
        with torch.no_grad():
            mu = Z.mean(axes, keepdim=True)
            sigma = (Z.var(axes, keepdim=True, correction=0) + self.ln.eps).sqrt()
        return (Z - mu) / sigma * self.ln.weight + self.ln.bias


# %% wrong_whole_rows_dropped: whole steps dropped instead of single features
# kind: mistake
# breaks: modes
# equals: addnorm-whole-steps-dropped

import torch
from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.p = dropout
        self.ln = nn.LayerNorm(normalized_shape)

    def forward(self, X, Y):
        if self.training and self.p > 0:
            keep = torch.rand(Y.shape[:-1], device=Y.device) > self.p
            Y = Y * keep.unsqueeze(-1) / (1 - self.p)
        return self.ln(X + Y)


# %% wrong_x_detached: the residual is detached: no gradient reaches X
# kind: mistake
# breaks: gradients
# equals: addnorm-residual-detached

from torch import nn

class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        skip = X.detach()
        return self.ln(self.dropout(Y) + skip)


# %% wrong_unused_scale: F.layer_norm without the weight and bias of ln
# kind: mistake
# breaks: defaults, gradients, modes, values
# equals: addnorm-affine-unused

import torch
from torch import nn
from torch.nn import functional as F


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X, Y):
        return F.layer_norm(self.dropout(Y) + X, self.ln.normalized_shape)


# %% wrong_only_lists: list(normalized_shape) in the constructor, which an integer does not allow
# kind: mistake
# breaks: defaults
# equals: nothing

import torch
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape, dropout, **kwargs):
        super(AddNorm, self).__init__(**kwargs)
        self.dropout = nn.Dropout(dropout)
        self.ln = nn.LayerNorm(list(normalized_shape))

    def forward(self, X, Y):
        return self.ln(self.dropout(Y) + X)


# %% wrong_norm_before_sum: X + ln(dropout(Y))
# kind: different
# breaks: defaults, gradients, modes, values
# equals: addnorm-norm-inside-after-dropout

import torch
from torch import nn


class AddNorm(nn.Module):
    def __init__(self, normalized_shape: int | list[int], dropout: float):
        super().__init__()
        self.ln = nn.LayerNorm(normalized_shape)
        self.dropout = nn.Dropout(dropout)

    def forward(self, X: torch.Tensor, Y: torch.Tensor) -> torch.Tensor:
        Y = self.dropout(Y)
        Y = self.ln(Y)
        return X + Y   # residual connection
