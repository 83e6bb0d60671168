# %% right_book_bmm: the book's forward with bmm and reshape
# kind: same

import torch
from torch import nn

def kernel_regression(queries, keys, values, w=1.0):
    # Shape of queries and attention_weights: (no. of queries, no. of key-value pairs)
    n = keys.shape[0]
    queries = queries.repeat_interleave(n).reshape((-1, n))
    attention_weights = nn.functional.softmax(-((queries - keys) * w)**2 / 2, dim=1)
    rows = values.repeat(queries.shape[0], 1)
    return torch.bmm(attention_weights.unsqueeze(1), rows.unsqueeze(-1)).reshape(-1)


# %% right_broadcast_and_sum: multiplies by broadcasting and sums over the keys
# kind: same

import torch
import torch.nn.functional as F

def kernel_regression(queries, keys, values, w=1.0):
    u = (keys - queries.unsqueeze(1)) * w
    a = F.softmax(u * u * -0.5, dim=-1)
    return (a * values).sum(dim=-1)


# %% right_matrix_vector: weights times values as one product
# kind: same

import torch

def kernel_regression(queries, keys, values, w=1.0):
    alpha = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    return alpha @ values


# %% right_one_query_at_a_time: a list comprehension over the queries
# kind: same

import torch
from typing import Union

def _predict(q: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, w) -> torch.Tensor:
    weights = (-((q - keys) * w).square() / 2).softmax(0)
    return torch.dot(weights, values)

def kernel_regression(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor,
                      w: Union[float, torch.Tensor] = 1.0) -> torch.Tensor:
    return torch.stack([_predict(q, keys, values, w) for q in queries])


# %% right_own_weights_function: builds on its own weights function
# kind: same

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    d = queries.view(-1, 1) - keys.view(1, -1)
    e = torch.exp(-((d * w) ** 2) / 2)
    return e / e.sum(-1, keepdim=True)

def kernel_regression(queries, keys, values, w=1.0):
    return torch.einsum('ts,s->t', kernel_attention_weights(queries, keys, w), values)


# %% right_ratio_of_sums: numerator and denominator summed key by key, relative to the nearest key
# kind: same

import torch

def kernel_regression(queries, keys, values, w=1.0):
    nearest = torch.stack([((queries - k) * w) ** 2 for k in keys]).min(dim=0).values
    num = torch.zeros_like(queries)
    den = torch.zeros_like(queries)
    for i in range(len(keys)):
        K = torch.exp(-0.5 * (((queries - keys[i]) * w) ** 2 - nearest))
        num = num + K * values[i]
        den = den + K
    return num / den


# %% wrong_column_result: returns (T, 1) instead of (T,)
# kind: mistake
# breaks: shapes
# equals: pool-column-of-answers

import torch
from torch import nn

def kernel_regression(queries, keys, values, w=1.0):
    attention_weights = nn.functional.softmax(
        -((queries.unsqueeze(1) - keys.unsqueeze(0)) * w)**2 / 2, dim=1)
    return torch.mm(attention_weights, values.unsqueeze(-1))


# %% wrong_local_linear: local linear regression instead of a local average
# kind: different
# breaks: values, gradients
# equals: nothing

import torch

def kernel_regression(queries, keys, values, w=1.0):
    a = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    x_bar = a @ keys
    y_bar = a @ values
    cov = (a * (keys - x_bar[:, None]) * (values - y_bar[:, None])).sum(1)
    var = (a * (keys - x_bar[:, None]) ** 2).sum(1) + 1e-6
    return y_bar + cov / var * (queries - x_bar)


# %% wrong_mean_over_keys: takes the mean over the keys instead of the sum
# kind: mistake
# breaks: values, gradients
# equals: pool-mean-for-sum

import torch

def kernel_regression(queries, keys, values, w=1.0):
    a = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    return torch.mean(a * values, dim=1)


# %% wrong_missing_half: leaves out the 1/2 of the Gaussian
# kind: mistake
# breaks: values, gradients
# equals: pool-answers-half-forgotten

import torch
import torch.nn.functional as F

def kernel_regression(queries, keys, values, w=1.0):
    diff = (queries[:, None] - keys[None, :]) * w
    return F.softmax(-diff ** 2, dim=-1) @ values


# %% wrong_nearest_neighbour: takes the value of the nearest key only
# kind: mistake
# breaks: values, gradients
# equals: pool-nearest-value

import torch

def kernel_regression(queries, keys, values, w=1.0):
    nearest = ((queries[:, None] - keys[None, :]) * w).abs().argmin(dim=1)
    return values[nearest]


# %% wrong_no_sum: multiplies weights and values but does not sum over the keys
# kind: mistake
# breaks: shapes, values
# equals: pool-not-added-up

import torch

def kernel_regression(queries, keys, values, w=1.0):
    a = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    return a * values[None, :]


# %% wrong_not_normalised: sums kernel times value without dividing by the kernel sum
# kind: mistake
# breaks: values, gradients
# equals: pool-answers-not-normalised

import torch

def kernel_regression(queries, keys, values, w=1.0):
    out = torch.zeros_like(queries)
    for k, v in zip(keys, values):
        out = out + torch.exp(-((queries - k) * w) ** 2 / 2) * v
    return out


# %% wrong_plain_mean: predicts the mean of the values everywhere
# kind: mistake
# breaks: values, gradients
# equals: nothing

import torch

def kernel_regression(queries, keys, values, w=1.0):
    # every query gets the average
    y = values.mean()
    return y.repeat(queries.shape[0])


# %% wrong_pools_keys: averages the keys and ignores the values
# kind: mistake
# breaks: values, gradients
# equals: pool-keys-averaged

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    return torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)

def kernel_regression(queries, keys, values, w=1.0):
    return kernel_attention_weights(queries, keys, w) @ keys


# %% wrong_query_as_value: adds the query to the prediction
# kind: mistake
# breaks: values, gradients
# equals: pool-values-added-to-query

import torch

def kernel_regression(queries, keys, values, w=1.0):
    a = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    y_hat = a @ values
    return queries + y_hat


# %% wrong_ratio_of_sums: numerator and denominator summed key by key, NaN far from all keys
# kind: mistake
# breaks: values
# equals: pool-far-answer-nan

import torch

def kernel_regression(queries, keys, values, w=1.0):
    num = torch.zeros_like(queries)
    den = torch.zeros_like(queries)
    for i in range(len(keys)):
        K = torch.exp(-0.5 * ((queries - keys[i]) * w) ** 2)
        num = num + K * values[i]
        den = den + K
    return num / den


# %% wrong_returns_weights: stops at the weights
# kind: mistake
# breaks: shapes, values
# equals: pool-weights-came-back

import torch

def kernel_regression(queries, keys, values, w=1.0):
    a = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    values = a @ values
    return a


# %% wrong_softmax_over_queries: normalises over the queries
# kind: mistake
# breaks: values, gradients
# equals: pool-weights-transposed

import torch

def kernel_regression(queries, keys, values, w=1.0):
    s = -((queries[:, None] - keys) * w) ** 2 / 2
    alpha = torch.softmax(s, 0)
    return alpha @ values


# %% wrong_sums_over_queries: sums over the queries instead of the keys
# kind: mistake
# breaks: shapes, values
# equals: pool-added-up-over-queries

import torch

def kernel_regression(queries, keys, values, w=1.0):
    a = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    return torch.einsum('ts,s->s', a, values)


# %% wrong_values_detached: reads values.data, which get no gradient
# kind: mistake
# breaks: gradients
# equals: pool-values-detached

import torch

def kernel_regression(queries, keys, values, w=1.0):
    alpha = (-((queries[:, None] - keys[None, :]) * w) ** 2 / 2).softmax(-1)
    return alpha.mv(values.data)


# %% wrong_w_detached: detaches w, so it gets no gradient
# kind: mistake
# breaks: gradients
# equals: pool-w-passed-as-number

import torch

def kernel_regression(queries, keys, values, w=1.0):
    with torch.no_grad():
        c = torch.as_tensor(w, dtype=queries.dtype, device=queries.device).clone()
    alpha = torch.softmax(-((queries[:, None] - keys[None, :]) * c) ** 2 / 2, dim=-1)
    return (alpha * values).sum(-1)


# %% wrong_w_not_passed_on: does not pass w to the weights
# kind: mistake
# breaks: values, gradients
# equals: pool-w-not-passed

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    return torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)

def kernel_regression(queries, keys, values, w=1.0):
    attention_weights = kernel_attention_weights(queries, keys)
    return attention_weights @ values


# %% wrong_w_outside_square: multiplies by w after squaring
# kind: mistake
# breaks: values, gradients
# equals: pool-answers-w-outside-the-square

import torch

def kernel_regression(queries, keys, values, w=1.0):
    alpha = torch.softmax(-((queries[:, None] - keys[None, :]) ** 2 * w) / 2, dim=-1)
    return torch.matmul(alpha, values)


# %% wrong_weights_transposed: multiplies with the transposed weights, so only T = S runs
# kind: mistake
# breaks: values, gradients
# equals: pool-weights-on-their-side

import torch

def kernel_regression(queries, keys, values, w=1.0):
    scores = -((queries.reshape(-1, 1) - keys.reshape(1, -1)) * w).pow(2) / 2
    weights = scores.softmax(dim=1)
    return weights.T @ values


# %% wrong_squeeze_single_query: squeeze() at the end also removes the axis of a single query
# kind: mistake
# breaks: defaults, shapes
# equals: pool-single-query-loses-axis

import torch

from grader.given import kernel_attention_weights


def kernel_regression(queries, keys, values, w=1.0):
    weights = kernel_attention_weights(queries, keys, w)  # (T, S)
    # (1, T, S) x (1, S, 1) -> (1, T, 1)
    return torch.bmm(weights.unsqueeze(0), values.reshape(1, -1, 1)).squeeze()


# %% wrong_arguments_exchanged: kernel_attention_weights called with keys and queries exchanged
# kind: mistake
# breaks: defaults, shapes, values
# equals: pool-queries-and-keys-exchanged

import torch

from grader.given import kernel_attention_weights


def kernel_regression(queries, keys, values, w=1.0):
    return kernel_attention_weights(keys, queries, w) @ values


# %% wrong_no_grad: computed under torch.no_grad
# kind: mistake
# breaks: gradients
# equals: pool-answers-detached

import torch

from grader.given import kernel_attention_weights


def kernel_regression(queries, keys, values, w=1.0):
    # only a prediction, no training here
    with torch.no_grad():
        alpha = kernel_attention_weights(queries, keys, w)
        return torch.einsum("ts,s->t", alpha, values)


# %% wrong_sorted_queries: queries sorted first, answers come in the sorted order
# kind: mistake
# breaks: defaults, gradients, values
# equals: pool-queries-sorted

import torch
from torch import nn


def kernel_regression(queries, keys, values, w=1.0):
    # as in the book: sorted x, so that the curve can be drawn
    queries, _ = torch.sort(queries)
    X_repeat = queries.repeat_interleave(len(keys)).reshape((-1, len(keys)))
    attention_weights = nn.functional.softmax(-((X_repeat - keys) * w) ** 2 / 2, dim=1)
    y_hat = torch.matmul(attention_weights, values)
    return y_hat


# %% wrong_mean_of_products: the weighted values are averaged instead of summed
# kind: mistake
# breaks: defaults, gradients, values
# equals: pool-mean-for-sum

import torch

from grader.given import kernel_attention_weights


def kernel_regression(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    alphas = kernel_attention_weights(queries, keys, w)
    weighted = alphas * values  # values broadcast over the rows
    # weighted average over all keys
    return weighted.mean(dim=-1)


# %% wrong_values_as_column: the values become a column, which meets the queries
# kind: mistake
# breaks: defaults, shapes, values
# equals: nothing

import torch

from grader.given import kernel_attention_weights


def kernel_regression(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    attn = kernel_attention_weights(queries, keys, w)  # (T, S)
    v = values[:, None]  # column so it lines up with the weights
    return (attn * v).sum(dim=1)


# %% wrong_w_left_out: w is not passed on
# kind: mistake
# breaks: gradients, values
# equals: pool-w-not-passed

import torch

from grader.given import kernel_attention_weights


def kernel_regression(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    # easy: (T, S) @ (S,) -> (T,)
    return torch.matmul(kernel_attention_weights(queries, keys), values)


# %% wrong_w_outside_and_column: two mistakes: w multiplies the square, and the result is a column
# kind: mistake
# breaks: defaults, gradients, shapes, values
# equals: pool-answers-w-outside-the-square+pool-column-of-answers

import torch


def kernel_regression(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, w: float | torch.Tensor = 1.0
) -> torch.Tensor:
    # did it without the first function, everything in one go
    sq_dist = (queries.view(-1, 1) - keys.view(1, -1)) ** 2
    weights = torch.softmax(-sq_dist * w / 2, dim=1)
    out = weights.to(values.dtype) @ values.view(-1, 1)
    return out
