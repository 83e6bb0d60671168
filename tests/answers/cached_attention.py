# %% right_tril_rows: the last rows of a triangle, softmax by hand
# kind: same

import math

import torch


def cached_attention(queries, keys, values, cache):
    T = queries.size(2)
    K, V = cache.append(keys, values)
    S = K.size(2)
    triangle = torch.ones(S, S, dtype=torch.bool, device=queries.device).tril()
    scores = torch.matmul(queries, K.transpose(-1, -2)) / math.sqrt(queries.size(-1))
    scores = scores.masked_fill(~triangle[S - T :], -math.inf)
    return scores.softmax(dim=-1) @ V


# %% right_one_query_at_a_time: each query with the slice of keys it may see
# kind: same

import torch


def cached_attention(queries, keys, values, cache):
    n = cache.length
    all_keys, all_values = cache.append(keys, values)
    outputs = []
    for t in range(queries.shape[2]):
        q = queries[:, :, t]
        k, v = all_keys[:, :, : n + t + 1], all_values[:, :, : n + t + 1]
        weights = torch.einsum("bhd,bhsd->bhs", q, k).div(q.shape[-1] ** 0.5).softmax(-1)
        outputs.append(torch.einsum("bhs,bhsd->bhd", weights, v))
    return torch.stack(outputs, dim=2)


# %% right_padded_square: zero queries in front, then is_causal on the square
# kind: same

import torch
import torch.nn.functional as F


def cached_attention(queries, keys, values, cache):
    k, v = cache.append(keys, values)
    missing = k.size(2) - queries.size(2)
    q = F.pad(queries, (0, 0, missing, 0))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)[:, :, missing:]


# %% right_two_parts: old keys without a mask, new keys with a triangle, one softmax
# kind: same

import torch


def cached_attention(queries, keys, values, cache):
    n, T = cache.length, keys.size(2)
    k, v = cache.append(keys, values)
    q = queries * queries.size(-1) ** -0.5
    old = q @ k[:, :, :n].mT
    new = q @ k[:, :, n:].mT + torch.full((T, T), float("-inf"), dtype=q.dtype, device=q.device).triu(1)
    top = torch.cat((old, new), dim=-1).amax(dim=-1, keepdim=True)
    e_old, e_new = (old - top).exp(), (new - top).exp()
    total = e_old.sum(-1, keepdim=True) + e_new.sum(-1, keepdim=True)
    return (e_old @ v[:, :, :n] + e_new @ v[:, :, n:]) / total


# %% right_lower_right_bias: causal_lower_right of PyTorch
# kind: same

import torch.nn.functional as F
from torch.nn.attention.bias import causal_lower_right


def cached_attention(queries, keys, values, cache):
    k, v = cache.append(keys, values)
    return F.scaled_dot_product_attention(
        queries, k, v, attn_mask=causal_lower_right(queries.size(-2), k.size(-2))
    )


# %% wrong_is_causal: is_causal=True for all calls
# kind: mistake
# breaks: defaults, masking
# equals: cache-mask-upper-left

import torch.nn.functional as F


def cached_attention(queries, keys, values, cache):
    k, v = cache.append(keys, values)
    return F.scaled_dot_product_attention(queries, k, v, is_causal=True)


# %% wrong_causal_only_for_prompt: no mask once something is stored
# kind: mistake
# breaks: masking
# equals: cache-mask-for-prompt-only

import torch.nn.functional as F


def cached_attention(queries, keys, values, cache):
    first = cache.length == 0
    k, v = cache.append(keys, values)
    return F.scaled_dot_product_attention(queries, k, v, is_causal=first)


# %% wrong_never_masked: no mask at all
# kind: mistake
# breaks: masking
# equals: cache-no-mask

import math

import torch


def cached_attention(queries, keys, values, cache):
    k, v = cache.append(keys, values)
    a = torch.softmax(queries @ k.transpose(2, 3) / math.sqrt(k.shape[-1]), dim=-1)
    return a @ v


# %% wrong_length_after: the number of stored steps is read after the append
# kind: mistake
# breaks: masking
# equals: cache-no-mask

import torch
import torch.nn.functional as F


def cached_attention(queries, keys, values, cache):
    k, v = cache.append(keys, values)
    n = cache.length
    rows = n + torch.arange(queries.size(2), device=queries.device)
    cols = torch.arange(k.size(2), device=queries.device)
    return F.scaled_dot_product_attention(queries, k, v, attn_mask=cols[None] <= rows[:, None])


# %% wrong_own_step_hidden: strict triangle: a query does not see its own step
# kind: mistake
# breaks: defaults, masking
# equals: cache-mask-not-itself

import torch


def cached_attention(queries, keys, values, cache):
    n, T = cache.length, queries.size(2)
    k, v = cache.append(keys, values)
    scores = queries @ k.mT / queries.size(-1) ** 0.5
    hidden = torch.ones(T, k.size(2), dtype=torch.bool, device=scores.device).triu(n)
    return scores.masked_fill(hidden, -1e9).softmax(-1) @ v


# %% wrong_divided_by_d: divided by d, not by its square root
# kind: mistake
# breaks: defaults, masking
# equals: cache-scaled-without-root

import torch


def cached_attention(queries, keys, values, cache):
    n, T, d = cache.length, queries.size(2), queries.size(3)
    k, v = cache.append(keys, values)
    scores = torch.einsum("bhtd,bhsd->bhts", queries, k) / d
    hidden = torch.ones(T, n + T, dtype=torch.bool, device=scores.device).triu(n + 1)
    return torch.einsum("bhts,bhsd->bhtd", scores.masked_fill(hidden, float("-inf")).softmax(-1), v)


# %% wrong_new_only: attends to the new steps only, though they are stored
# kind: mistake
# breaks: defaults, masking
# equals: cache-new-steps-only

import torch.nn.functional as F


def cached_attention(queries, keys, values, cache):
    cache.append(keys, values)
    return F.scaled_dot_product_attention(queries, keys, values, is_causal=True)


# %% wrong_appended_twice: appends once for the keys and once for the values
# kind: mistake
# breaks: defaults, masking, shapes, values
# equals: cache-appended-twice

import torch
import torch.nn.functional as F


def cached_attention(queries, keys, values, cache):
    n = cache.length
    all_keys, _ = cache.append(keys, values)
    _, all_values = cache.append(keys, values)
    S = all_keys.size(2)
    mask = torch.ones(queries.size(2), S, dtype=torch.bool, device=queries.device).tril(n)
    return F.scaled_dot_product_attention(queries, all_keys, all_values[:, :, :S], attn_mask=mask)


# %% wrong_softmax_over_queries: softmax over axis 2
# kind: mistake
# breaks: defaults, masking
# equals: cache-softmax-over-queries

import math

import torch


def cached_attention(queries, keys, values, cache):
    n, T = cache.length, queries.shape[2]
    k, v = cache.append(keys, values)
    scores = queries @ k.transpose(2, 3) / math.sqrt(queries.shape[3])
    visible = torch.ones(T, n + T, dtype=torch.bool, device=scores.device).tril(n)
    scores = scores.masked_fill(~visible, float("-1e30"))
    return torch.softmax(scores, dim=2) @ v


# %% wrong_mask_inverted: the mask says what is hidden, SDPA reads what is visible
# kind: mistake
# breaks: defaults, masking, values
# equals: cache-mask-inverted

import torch
from torch.nn.functional import scaled_dot_product_attention


def cached_attention(queries, keys, values, cache):
    n, T = cache.length, queries.size(2)
    k, v = cache.append(keys, values)
    future = torch.triu(torch.ones(T, n + T, dtype=torch.bool, device=queries.device), diagonal=n + 1)
    return scaled_dot_product_attention(queries, k, v, attn_mask=future)


# %% wrong_pair_returned: the output and the cache are returned
# kind: different
# breaks: defaults, masking, shapes, values

import torch
from torch.nn.functional import scaled_dot_product_attention


def cached_attention(queries, keys, values, cache):
    n, T = cache.length, queries.size(2)
    k, v = cache.append(keys, values)
    past = torch.ones(T, n + T, dtype=torch.bool, device=queries.device).tril(n)
    return scaled_dot_product_attention(queries, k, v, attn_mask=past), cache


# %% wrong_scaled_twice_no_mask: queries divided by sqrt(d) before SDPA does it again, and no mask inside a piece
# kind: mistake
# breaks: defaults, masking

import torch
import torch.nn.functional as F


def cached_attention(queries, keys, values, cache):
    k, v = cache.append(keys, values)
    return F.scaled_dot_product_attention(queries / queries.size(-1) ** 0.5, k, v)


# %% wrong_scaled_in_place: the caller's queries are scaled in place
# kind: mistake
# breaks: purity

import torch


def cached_attention(queries, keys, values, cache):
    n, T = cache.length, queries.size(2)
    k, v = cache.append(keys, values)
    queries /= queries.size(-1) ** 0.5
    scores = queries @ k.mT
    scores.masked_fill_(torch.ones(T, n + T, dtype=torch.bool, device=scores.device).triu(n + 1), -torch.inf)
    return scores.softmax(-1) @ v


# %% wrong_causal_if_several: is_causal unless there is a single new step
# kind: mistake
# breaks: masking
# equals: cache-upper-left-in-pieces

import torch.nn.functional as F


def cached_attention(queries, keys, values, cache):
    k, v = cache.append(keys, values)
    return F.scaled_dot_product_attention(queries, k, v, is_causal=queries.size(2) > 1)


# %% wrong_own_step_hidden_fused: a strict triangle for SDPA, which gives zeros where nothing is visible
# kind: mistake
# breaks: defaults, masking
# equals: cache-mask-not-itself

import torch
import torch.nn.functional as F


def cached_attention(queries, keys, values, cache):
    n, T = cache.length, queries.size(2)
    k, v = cache.append(keys, values)
    visible = torch.ones(T, k.size(2), dtype=torch.bool, device=k.device).tril(n - 1)
    return F.scaled_dot_product_attention(queries, k, v, attn_mask=visible)
