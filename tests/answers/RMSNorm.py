# %% right_llama: upcast, rsqrt of the mean of squares, weight applied in float32 before casting back
# kind: same

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        in_dtype = x.dtype
        x = x.to(torch.promote_types(in_dtype, torch.float32))
        normed = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)
        return (normed * self.weight).to(in_dtype)


# %% right_functional: F.rms_norm in float32 or wider
# kind: same

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.shape = (d_model,)
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(self.shape))

    def forward(self, x):
        wide = x if x.dtype == torch.float64 else x.float()
        return F.rms_norm(wide, self.shape, self.weight.to(wide.dtype), self.eps).type_as(x)


# %% right_subclass: PyTorch's own module with another default for eps
# kind: same

from torch import nn


class RMSNorm(nn.RMSNorm):
    def __init__(self, d_model, eps=1e-5):
        super().__init__(normalized_shape=d_model, eps=eps, elementwise_affine=True)


# %% right_vector_norm: the length of the vector, divided by the root of its size
# kind: same

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.d_model, self.eps = d_model, eps
        self.weight = nn.Parameter(torch.full((d_model,), 1.0))

    def forward(self, x):
        kind = torch.float64 if x.dtype == torch.float64 else torch.float32
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=kind)
        rms = torch.sqrt(length.square() / self.d_model + self.eps)
        return (x.to(kind) / rms * self.weight.to(kind)).to(x.dtype)


# %% right_einsum: the mean of squares by einsum, in float64
# kind: same

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(d_model))
        self.eps = eps
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.ones_(self.weight)

    def forward(self, x):
        y = x.double()
        mean = torch.einsum("...d,...d->...", y, y) / y.shape[-1]
        y = torch.einsum("...d,...,d->...d", y, (mean + self.eps) ** -0.5, self.weight.double())
        return y.to(x.dtype)


# %% right_addcdiv_of_scale: the parameter is called scale, the mean of squares from variance and mean
# kind: same

import torch


class RMSNorm(torch.nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        h = x.float() if x.dtype in (torch.float16, torch.bfloat16) else x
        var, mean = torch.var_mean(h, dim=-1, keepdim=True, correction=0)
        h = h / (var + mean.square() + self.eps).sqrt()
        return (self.scale * h).to(x.dtype)


# %% wrong_mean_subtracted: the mean is taken off first, as in LayerNorm
# kind: mistake
# breaks: gradients, precision, values
# equals: rms-mean-subtracted

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        dtype = x.dtype
        x = x.to(torch.promote_types(dtype, torch.float32))
        x = x - x.mean(dim=-1, keepdim=True)
        ms = x.pow(2).mean(dim=-1, keepdim=True)
        return (self.weight * x * torch.rsqrt(ms + self.eps)).to(dtype)


# %% wrong_eps_added_to_root: eps is added to the root instead of the mean of squares
# kind: mistake
# breaks: gradients, values
# equals: rms-eps-outside

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        rms = wide.square().mean(-1, keepdim=True).sqrt()
        return (wide / (rms + self.eps) * self.weight).to(x.dtype)


# %% wrong_over_steps: the mean of squares is taken over the steps
# kind: mistake
# breaks: gradients, values
# equals: rms-over-steps

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        rms = (wide.pow(2).mean(dim=1, keepdim=True) + self.eps).sqrt()
        return (wide / rms * self.weight).to(x.dtype)


# %% wrong_one_mean_for_all: a single mean over the whole tensor
# kind: mistake
# breaks: gradients, precision, values
# equals: rms-over-everything

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.gain_shape = d_model
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        h = x.to(torch.promote_types(x.dtype, torch.float32))
        h = h * torch.rsqrt((h * h).mean() + self.eps)
        return h.mul(self.weight).to(x.dtype)


# %% wrong_sum_of_squares: divides by the length of the vector: the sum, not the mean
# kind: mistake
# breaks: gradients, precision, values
# equals: rms-sum

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        y = x.float() if x.element_size() < 4 else x
        y = y * (y.pow(2).sum(-1, keepdim=True) + self.eps).rsqrt()
        return (y * self.weight).to(x.dtype)


# %% wrong_no_root: divides by the mean of squares itself
# kind: mistake
# breaks: gradients, precision, values
# equals: rms-no-root

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x):
        y = x.to(torch.promote_types(x.dtype, torch.float32))
        variance = y.pow(2).mean(-1, keepdim=True)
        return (y / (variance + self.eps) * self.weight).to(x.dtype)


# %% wrong_one_plus_weight: Gemma's form: the weight starts at zero and 1 + weight is the factor
# kind: different
# breaks: gradients, shapes, values
# equals: rms-one-plus-weight

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.zeros(d_model))

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        output = self._norm(x.to(torch.promote_types(x.dtype, torch.float32)))
        output = output * (1.0 + self.weight)
        return output.type_as(x)


# %% wrong_half_precision: squares and mean in the dtype of the input
# kind: policy
# later: precision

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        rms = torch.sqrt(torch.mean(x**2, dim=-1, keepdim=True) + self.eps)
        return (x / rms * self.weight).to(x.dtype)


# %% wrong_stays_float32: the result is not cast back
# kind: policy
# later: precision

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        inverse = wide.square().mean(-1, keepdim=True).add(self.eps).rsqrt()
        return wide * inverse * self.weight


# %% wrong_in_place: the caller's tensor is normalised in place
# kind: mistake
# breaks: gradients, purity
# equals: rms-in-place

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        wide /= torch.sqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).to(x.dtype)


# %% wrong_rms_without_gradient: the root mean square is a constant for autograd
# kind: mistake
# breaks: gradients
# equals: rms-norm-detached

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        with torch.no_grad():
            scale = torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return (wide * scale * self.weight).to(x.dtype)


# %% wrong_bias: a bias, as LayerNorm has one
# kind: mistake
# breaks: purity
# equals: rms-with-bias

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.d_model, self.eps = d_model, eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return F.rms_norm(x, (self.d_model,), self.weight, self.eps) + self.bias


# %% wrong_default_eps_of_pytorch: eps is forgotten on the way to nn.RMSNorm's function, so machine precision is used
# kind: mistake
# breaks: gradients, values
# equals: rms-eps-of-torch

import torch
import torch.nn.functional as F
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        return F.rms_norm(x, self.weight.shape, self.weight)


# %% wrong_weight_not_a_parameter: the weight is a plain tensor, so nothing is learned or saved
# kind: mistake
# breaks: gradients, shapes, values
# equals: rms-weight-not-learned

import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, d_model, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = torch.ones(d_model)

    def forward(self, x):
        y = x.to(torch.promote_types(x.dtype, torch.float32))
        y = y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + self.eps)
        return (y * self.weight.to(x.device)).to(x.dtype)
