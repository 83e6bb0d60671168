# %% right_book_repeat_interleave: repeats every query once per key, as the book does
# kind: same

import torch
from torch import nn

def kernel_attention_weights(queries, keys, w=1.0):
    # Shape of queries after this: (no. of queries, no. of key-value pairs)
    queries = queries.repeat_interleave(keys.shape[0]).reshape((-1, keys.shape[0]))
    attention_weights = nn.functional.softmax(
        -((queries - keys) * w)**2 / 2, dim=1)
    return attention_weights


# %% right_exp_over_sum: kernel over the sum of kernels, relative to the nearest key
# kind: same

import torch

def kernel_attention_weights(queries: torch.Tensor, keys: torch.Tensor, w=1.0) -> torch.Tensor:
    u = w * (queries.view(-1, 1) - keys.view(1, -1))
    scores = -0.5 * u ** 2
    K = torch.exp(scores - scores.max(dim=1, keepdim=True)[0].detach())
    return K / K.sum(dim=1, keepdim=True)


# %% right_logsumexp: exp of the score minus its logsumexp
# kind: same

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    diff = queries.unsqueeze(-1) - keys
    logits = -0.5 * torch.pow(diff * w, 2)
    return torch.exp(logits - torch.logsumexp(logits, dim=-1, keepdim=True))


# %% right_loop_over_queries: one softmax per query in a loop
# kind: same

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    rows = []
    for i in range(queries.shape[0]):
        s = -((queries[i] - keys) * w)
        s = -(s * s) / 2
        rows.append(torch.softmax(s, dim=0))
    return torch.stack(rows, dim=0)


# %% right_normal_log_prob: takes the log density of a standard normal as score
# kind: same

import torch
from torch.distributions import Normal

def kernel_attention_weights(queries, keys, w=1.0):
    zero = torch.zeros((), dtype=queries.dtype, device=queries.device)
    std_normal = Normal(zero, zero + 1, validate_args=False)
    return std_normal.log_prob((queries.unsqueeze(1) - keys.unsqueeze(0)) * w).softmax(dim=1)


# %% right_one_line: softmax over keys of the negative half square
# kind: same

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    return torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)


# %% right_row_constant_dropped: expands the square and drops the part that is the same for all keys
# kind: same

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    # (q-k)^2 = q^2 - 2qk + k^2, and q^2 cancels in the softmax
    scores = torch.outer(queries, keys) - keys.square() / 2
    return (scores * w * w).softmax(-1)


# %% wrong_absolute_distance: uses the absolute distance (Laplace kernel) instead of the square
# kind: different
# breaks: values, gradients
# equals: pool-absolute-distance

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    dist = torch.abs((queries.unsqueeze(-1) - keys) * w)
    return torch.softmax(-dist / 2, -1)


# %% wrong_divided_by_max: divides by the largest weight instead of the sum
# kind: mistake
# breaks: values, gradients
# equals: pool-divided-by-largest

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    K = torch.exp(-((queries[:, None] - keys[None, :]) * w)**2 / 2)
    return K / K.max(dim=1, keepdim=True).values


# %% wrong_dot_product: scores by the product of query and key instead of their distance
# kind: mistake
# breaks: values, gradients
# equals: nothing

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    scores = torch.outer(queries, keys) * w
    return torch.softmax(-scores**2 / 2, dim=-1)


# %% wrong_exp_and_softmax: takes the exponential first and then softmax again
# kind: mistake
# breaks: values, gradients
# equals: pool-exponential-twice

import torch

def gaussian(u):
    return torch.exp(-u**2 / 2)

def kernel_attention_weights(queries, keys, w=1.0):
    K = gaussian((queries[:, None] - keys[None, :]) * w)
    return torch.softmax(K, dim=1)


# %% wrong_exp_over_sum: Nadaraya-Watson as written: kernel over the sum of kernels, NaN far from all keys
# kind: mistake
# breaks: values
# equals: pool-far-query-nan

import torch

def gaussian_kernel(u):
    return torch.exp(-0.5 * u ** 2)

def kernel_attention_weights(queries: torch.Tensor, keys: torch.Tensor, w=1.0) -> torch.Tensor:
    K = gaussian_kernel(w * (queries.view(-1, 1) - keys.view(1, -1)))
    return K / K.sum(dim=1, keepdim=True)


# %% wrong_log_softmax: log_softmax instead of softmax
# kind: mistake
# breaks: values, gradients
# equals: pool-logarithms

import torch.nn.functional as F

def kernel_attention_weights(queries, keys, w=1.0):
    d = (queries[:, None] - keys[None, :]) * w
    return F.log_softmax(-d.pow(2) / 2, dim=-1)


# %% wrong_missing_half: leaves out the 1/2 of the Gaussian
# kind: mistake
# breaks: values, gradients
# equals: pool-half-forgotten

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    diff = queries[:, None] - keys[None, :]
    return torch.softmax(-(diff * w) ** 2, dim=-1)


# %% wrong_not_normalised: returns the Gaussian kernel without normalising
# kind: mistake
# breaks: values, gradients
# equals: pool-not-normalised

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    u = (queries[:, None] - keys) * w
    kernel = torch.exp(-0.5 * u * u)
    return kernel


# %% wrong_queries_detached: works on queries.data, which get no gradient
# kind: mistake
# breaks: gradients
# equals: nothing

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    q = queries.data[:, None]
    k = keys.data[None, :]
    return torch.softmax(-((q - k) * w) ** 2 / 2, dim=-1)


# %% wrong_repeats_by_queries: repeats each query T times, so only T = S works
# kind: mistake
# breaks: shapes, values
# equals: pool-repeated-too-rarely

import torch
from torch import nn

def kernel_attention_weights(queries, keys, w=1.0):
    n = queries.shape[0]
    queries = queries.repeat_interleave(n).reshape((-1, n))
    return nn.functional.softmax(-((queries - keys) * w)**2 / 2, dim=1)


# %% wrong_sign_forgotten: forgets the minus sign, so far keys weigh most
# kind: mistake
# breaks: values, gradients
# equals: pool-sign-forgotten, pool-far-query-nan+pool-sign-forgotten

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    d = queries[:, None] - keys[None, :]
    scores = (d * w).square() / 2
    e = scores.exp()
    return e / e.sum(dim=1, keepdim=True)


# %% wrong_softmax_over_everything: one softmax over the whole table
# kind: mistake
# breaks: values, gradients
# equals: pool-softmax-over-all

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    T, S = queries.numel(), keys.numel()
    s = -((queries.view(T, 1) - keys.view(1, S)) * w) ** 2 / 2
    return torch.softmax(s.flatten(), dim=0).view(T, S)


# %% wrong_softmax_over_queries: normalises each column, over the queries
# kind: mistake
# breaks: values, gradients
# equals: pool-softmax-over-queries

import torch
from torch import nn

def kernel_attention_weights(queries, keys, w=1.0):
    # queries down, keys across
    scores = -((queries.reshape(-1, 1) - keys.reshape(1, -1)) * w)**2 / 2
    return nn.functional.softmax(scores, dim=0)


# %% wrong_through_numpy: goes through numpy and loses every gradient, NaN far from all keys
# kind: mistake
# breaks: gradients, values
# equals: pool-all-detached+pool-far-query-nan

import numpy as np
import torch

def kernel_attention_weights(queries, keys, w=1.0):
    q = queries.detach().numpy()
    k = keys.detach().numpy()
    w = w.detach().numpy() if torch.is_tensor(w) else w
    K = np.exp(-((q[:, None] - k[None, :]) * w) ** 2 / 2)
    return torch.from_numpy(K / K.sum(axis=1, keepdims=True)).to(queries.dtype)


# %% wrong_transposed: returns keys by queries instead of queries by keys
# kind: mistake
# breaks: shapes, values
# equals: pool-transposed

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    scores = -((keys[:, None] - queries[None, :]) * w) ** 2 / 2
    return torch.softmax(scores, dim=0)


# %% wrong_triangular_kernel: uses a triangular kernel instead of the Gaussian
# kind: different
# breaks: values, gradients
# equals: nothing

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    u = (queries[:, None] - keys[None, :]) * w
    k = torch.clamp(1 - u.abs() / 8, min=0) + 1e-9
    return k / k.sum(1, keepdim=True)


# %% wrong_w_as_bandwidth: divides by w as a bandwidth instead of multiplying
# kind: different
# breaks: values, gradients
# equals: pool-w-divides

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    """w is the width of the window."""
    dist = (queries.view(-1, 1) - keys.view(1, -1)) / w
    return torch.softmax(-dist**2 / 2, dim=1)


# %% wrong_w_as_plain_number: turns w into a plain number, so it gets no gradient
# kind: mistake
# breaks: gradients
# equals: pool-w-cut-off

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    width = float(w)   # so that numbers and tensors both work
    scores = -((queries[:, None] - keys[None, :]) * width) ** 2 / 2
    return scores.softmax(dim=-1)


# %% wrong_w_ignored: never uses w
# kind: mistake
# breaks: values, gradients
# equals: pool-w-ignored

import torch
from torch.nn import functional as F

def kernel_attention_weights(queries, keys, w=1.0):
    X_repeat = queries.repeat_interleave(len(keys)).reshape((-1, len(keys)))
    return F.softmax(-(X_repeat - keys)**2 / 2, dim=1)


# %% wrong_w_outside_square: multiplies by w after squaring
# kind: mistake
# breaks: values, gradients
# equals: pool-w-outside-the-square

import torch
import torch.nn.functional as F


def kernel_attention_weights(queries, keys, w=1.0):
    sq = (queries.unsqueeze(1) - keys.unsqueeze(0)).pow(2)     # (T, S)
    return F.softmax(-w * sq / 2, dim=1)


# %% wrong_w_rewrapped: wraps w in a new tensor that is cut off from the graph
# kind: mistake
# breaks: gradients
# equals: pool-w-cut-off

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    if isinstance(w, torch.Tensor):
        w = w.detach().clone()
    else:
        w = torch.tensor(w, dtype=queries.dtype, device=queries.device)
    attention = []
    for q in queries:
        attention.append(torch.softmax(-((q - keys) * w)**2 / 2, dim=0))
    return torch.stack(attention)


# %% wrong_softmax_then_transpose: table built (S, T), softmax over its last axis (the queries), transposed at the end
# kind: mistake
# breaks: defaults, gradients, values
# equals: pool-softmax-over-queries

import torch


def kernel_attention_weights(queries: torch.Tensor, keys: torch.Tensor, w=1.0) -> torch.Tensor:
    diff = keys[:, None] - queries[None, :]
    scores = -0.5 * (diff * w) ** 2
    alpha = torch.softmax(scores, dim=-1)
    # rows should be the queries
    return alpha.T


# %% wrong_bandwidth: difference divided by w (taken for a bandwidth) instead of multiplied
# kind: mistake
# breaks: defaults, gradients, values
# equals: pool-w-divides

import torch


def kernel_attention_weights(
    queries: torch.Tensor, keys: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    """Gaussian kernel with bandwidth w."""
    T, S = queries.shape[0], keys.shape[0]
    q = queries.view(T, 1).expand(T, S)
    k = keys.view(1, S).expand(T, S)
    u = (q - k) / w
    log_kernel = -u.pow(2) / 2
    return log_kernel.softmax(dim=-1)


# %% wrong_copy_of_w: torch.tensor(w) makes a copy of w, which gets no gradient
# kind: mistake
# breaks: gradients
# equals: pool-w-cut-off

import torch


def kernel_attention_weights(queries, keys, w=1.0):
    # w can be a number or a tensor, so make it a tensor in every case
    w = torch.tensor(w, dtype=queries.dtype)
    scores = torch.subtract(queries.unsqueeze(-1), keys.unsqueeze(0))
    scores = scores * w
    scores = -torch.square(scores) / 2
    return torch.softmax(scores, dim=-1)


# %% wrong_no_new_axis: queries - keys without a new axis
# kind: mistake
# breaks: defaults, shapes, values
# equals: pool-no-table

import torch


def kernel_attention_weights(queries, keys, w=1.0):
    # broadcasting takes care of all pairs
    scores = -((queries - keys) * w) ** 2 / 2
    return torch.softmax(scores, dim=-1)


# %% wrong_w_required: parameter w has no default
# kind: mistake
# breaks: defaults, shapes, values
# equals: pool-w-without-default

import torch


def kernel_attention_weights(queries: torch.Tensor, keys: torch.Tensor, w) -> torch.Tensor:
    pairs = torch.stack([q - keys for q in queries])  # (T, S)
    energy = -((pairs * w) ** 2) / 2
    return torch.softmax(energy, dim=1)


# %% wrong_no_minus_sign: the minus sign of the score is missing
# kind: mistake
# breaks: defaults, gradients, values
# equals: pool-sign-forgotten

import torch


def kernel_attention_weights(
    queries: torch.Tensor, keys: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    # all pairs: column of queries against row of keys
    q_col = queries[:, None]
    k_row = keys[None, :]
    diff = (q_col - k_row) * w
    score = diff.pow(2) / 2
    # softmax over the keys (the last axis!)
    return score.softmax(dim=1).to(queries.dtype)


# %% wrong_same_axis_twice: queries and keys both get their new axis at the end, so there is no table of pairs
# kind: mistake
# breaks: shapes, values
# equals: pool-no-table

import torch


def kernel_attention_weights(
    queries: torch.Tensor, keys: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    Q = queries.unsqueeze(1)
    K = keys.unsqueeze(1)
    x = -(((Q - K) * w) ** 2) / 2  # (T, S)
    alpha = torch.nn.functional.softmax(x, dim=-1)
    return alpha


# %% right_shifted_by_nearest: no softmax of the library; the nearest key gets the exponential 1
# kind: same

import torch


def kernel_attention_weights(
    queries: torch.Tensor, keys: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    wide = torch.float64 if queries.dtype == torch.float64 else torch.float32
    if torch.is_tensor(w):
        w = w.to(wide)
    far = torch.abs(torch.sub(*torch.meshgrid(queries.to(wide), keys.to(wide), indexing="ij")) * w)
    near = far.amin(dim=1, keepdim=True)
    # a^2 - b^2 = (a - b)(a + b); the nearest key gets exp(0) = 1, so the sum is never 0
    bell = torch.exp(-(far - near) * (far + near) / 2)
    return (bell / bell.sum(1, keepdim=True)).to(queries.dtype)


# %% right_table_in_float32: a loop writes into torch.zeros(T, S), which is float32 on the CPU for every input
# kind: policy
# later: precision, device

import torch


def kernel_attention_weights(
    queries: torch.Tensor, keys: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    # I know broadcasting is faster but the loops are easier to read for me
    scores = torch.zeros(queries.shape[0], keys.shape[0])
    for i in range(queries.shape[0]):
        for j in range(keys.shape[0]):
            distance = queries[i] - keys[j]
            scores[i, j] = -0.5 * (distance * w) ** 2
    return torch.softmax(scores, dim=1)


# %% wrong_tiny_in_the_denominator: 1e-8 is added to the sum of the exponentials, so the row of a far query is zero
# kind: mistake
# breaks: values
# equals: pool-number-added-to-sum

import torch


def kernel_attention_weights(queries, keys, w=1.0):
    EPS = 1e-8  # so that we never divide by zero (README warns about NaN)
    T, S = len(queries), len(keys)
    table_q = queries.reshape(T, 1).expand(T, S)
    table_k = keys.reshape(1, S).expand(T, S)
    bell = torch.exp(-(((table_q - table_k) * w) ** 2) / 2)
    total = bell.sum(dim=1, keepdim=True)
    return (bell / (total + EPS)).to(queries.dtype)
