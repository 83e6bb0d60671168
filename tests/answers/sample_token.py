# %% right_searchsorted: running sums in float64, the right side, and never past the last possible token
# kind: same

import torch


def sample_token(probs, u):
    cdf = probs.double().cumsum(-1)
    u = torch.as_tensor(u, dtype=cdf.dtype, device=cdf.device).unsqueeze(-1)
    token = torch.searchsorted(cdf, u, right=True).squeeze(-1)
    index = torch.arange(probs.size(-1), device=probs.device)
    last = torch.where(probs > 0, index, 0).amax(-1)
    return torch.minimum(token, last)


# %% right_count: how many running sums are at or below u
# kind: same

import torch


def sample_token(probs, u):
    u = torch.as_tensor(u, device=probs.device).double()
    below = torch.cumsum(probs, dim=-1, dtype=torch.float64) <= u[..., None]
    positive = probs > 0
    last = probs.size(-1) - 1 - positive.flip(-1).int().argmax(-1)
    return torch.minimum(below.sum(-1), last)


# %% right_loop: walks through the tokens of each row
# kind: same

import torch


def sample_token(probs, u):
    V = probs.shape[-1]
    rows = probs.reshape(-1, V).tolist()
    draws = torch.as_tensor(u, dtype=torch.float64).reshape(-1).tolist()
    result = []
    for row, draw in zip(rows, draws):
        total = 0.0
        choice = None
        for i, p in enumerate(row):
            if p == 0:
                continue
            choice = i
            total += p
            if draw < total:
                break
        result.append(choice)
    return torch.tensor(result, dtype=torch.long, device=probs.device).reshape(probs.shape[:-1])


# %% right_first_true: the sum is infinite from the last possible token on; the first True wins
# kind: same

import torch


def sample_token(probs, u):
    if not torch.is_tensor(u):
        u = torch.tensor(u, dtype=torch.float64)
    u = u.to(probs.device, torch.float64)
    p = probs.to(torch.float64)
    after = p.flip(-1).gt(0).cumsum(-1).flip(-1) - p.gt(0).long()  # how many possible tokens still follow
    cdf = p.cumsum(-1).masked_fill(after == 0, torch.inf)
    hit = (cdf > u.unsqueeze(-1)) & (p > 0)
    return hit.long().argmax(dim=-1)


# %% right_bisect: bisect_right over the tokens that are possible
# kind: same

from bisect import bisect_right
from itertools import accumulate

import torch


def _one(row, draw):
    support = [i for i, p in enumerate(row) if p > 0]
    edges = list(accumulate(row[i] for i in support))
    return support[min(bisect_right(edges, draw), len(support) - 1)]


def sample_token(probs, u):
    if probs.dim() == 1:
        return torch.tensor(_one(probs.tolist(), float(u)), device=probs.device)
    return torch.stack([sample_token(row, draw) for row, draw in zip(probs, u)])


# %% right_scaled_draw: the draw is scaled by the total, so that rounding of the sum cannot matter
# kind: same

import torch


def sample_token(probs, u):
    cdf = probs.to(torch.float64).cumsum(-1)
    r = cdf[..., -1] * u
    token = (r.unsqueeze(-1) >= cdf).sum(-1)
    last = (probs > 0).long().cumsum(-1).argmax(-1)
    return token.clamp(max=last)


# %% right_triangle: running sums by a product with a triangle of ones
# kind: same

import torch


def sample_token(probs, u):
    V = probs.size(-1)
    p = probs.double()
    upper = torch.ones(V, V, dtype=p.dtype, device=p.device).triu()
    u = torch.as_tensor(u, dtype=p.dtype, device=p.device)
    possible = p > 0
    inside = (u[..., None] < p @ upper) & possible
    steps = torch.arange(V, device=p.device)
    first = torch.where(inside, steps, V).min(-1).values
    last = torch.where(possible, steps, -1).max(-1).values
    return torch.where(first < V, first, last)


# %% right_column_by_column: one pass over the vocabulary, all rows at once
# kind: same

import torch


def sample_token(probs, u):
    left = torch.as_tensor(u, dtype=torch.float64, device=probs.device).expand(probs.shape[:-1]).clone()
    token = torch.zeros(probs.shape[:-1], dtype=torch.int64, device=probs.device)
    done = torch.zeros_like(token, dtype=torch.bool)
    for i, column in enumerate(probs.double().unbind(-1)):
        candidate = (column > 0) & ~done
        token[candidate] = i
        done |= candidate & (left < column)
        left = left - column
    return token


# %% right_numpy: numpy.searchsorted on the support of each row
# kind: same
# later: precision, device

import numpy as np
import torch


def sample_token(probs, u):
    p = probs.detach().cpu().double().numpy()
    draws = np.broadcast_to(np.asarray(u, dtype=np.float64), p.shape[:-1])
    out = np.empty(p.shape[:-1], dtype=np.int64)
    for where in np.ndindex(*p.shape[:-1]):
        support = np.flatnonzero(p[where])
        k = np.searchsorted(np.cumsum(p[where][support]), draws[where], side="right")
        out[where] = support[min(k, len(support) - 1)]
    return torch.from_numpy(out).to(probs.device)


# %% wrong_left_side: searchsorted with its default side: u = 0 takes token 0, though it is impossible
# kind: mistake
# breaks: values
# equals: token-left-edge

import torch


def sample_token(probs, u):
    cdf = probs.double().cumsum(-1)
    u = torch.as_tensor(u, dtype=torch.float64, device=probs.device)
    token = torch.searchsorted(cdf, u.unsqueeze(-1)).squeeze(-1)
    last = (probs > 0).long().cumsum(-1).argmax(-1)
    return torch.minimum(token, last)


# %% wrong_past_the_end: a draw above the rounded total gives the token V
# kind: mistake
# breaks: values
# equals: token-beyond-the-end

import torch


def sample_token(probs, u):
    cdf = torch.cumsum(probs.float(), dim=-1)
    u = torch.as_tensor(u, device=probs.device)
    return (cdf <= u.unsqueeze(-1)).sum(dim=-1)


# %% wrong_clamped_to_the_last: a draw above the rounded total gives the last token, possible or not
# kind: mistake
# breaks: values
# equals: token-last-of-all

import torch


def sample_token(probs, u):
    cdf = probs.float().cumsum(-1)
    u = torch.as_tensor(u, dtype=torch.float32, device=probs.device)
    token = torch.searchsorted(cdf, u[..., None], right=True)[..., 0]
    return token.clamp(max=probs.size(-1) - 1)


# %% wrong_argmax_of_nothing: the first sum above u by argmax, which says 0 if there is none
# kind: mistake
# breaks: values
# equals: token-first-instead

import torch


def sample_token(probs, u):
    u = torch.as_tensor(u, device=probs.device)
    above = probs.float().cumsum(-1) > u.unsqueeze(-1)
    return above.int().argmax(-1)


# %% wrong_one_minus_u: the sums are counted from the other end
# kind: different
# breaks: values
# equals: token-from-the-end

import torch


def sample_token(probs, u):
    p = probs.double()
    tail = p.flip(-1).cumsum(-1).flip(-1)
    u = torch.as_tensor(u, dtype=torch.float64, device=p.device)
    alive = (tail > u[..., None]) & (p > 0)
    index = torch.arange(p.size(-1), device=p.device)
    first = p.gt(0).long().argmax(-1)
    return torch.maximum(torch.where(alive, index, -1).amax(-1), first)


# %% wrong_greedy: the most likely token, whatever the draw
# kind: mistake
# breaks: values
# equals: token-most-likely

import torch


def sample_token(probs, u):
    return probs.argmax(dim=-1)


# %% wrong_multinomial: draws by itself
# kind: different
# breaks: values
# equals: token-own-draw

import torch


def sample_token(probs, u=None):
    rows = probs.reshape(-1, probs.size(-1))
    return torch.multinomial(rows, num_samples=1).reshape(probs.shape[:-1])


# %% wrong_off_by_one: one token too low, as if the sums began with 0
# kind: mistake
# breaks: values
# equals: token-one-too-early

import torch


def sample_token(probs, u):
    cdf = probs.double().cumsum(-1)
    u = torch.as_tensor(u, dtype=torch.float64, device=probs.device)
    token = torch.searchsorted(cdf, u.unsqueeze(-1), right=True).squeeze(-1) - 1
    return token.clamp(min=0)


# %% wrong_one_too_high: the sums get a 0 in front, and nothing is taken off again
# kind: mistake
# breaks: values
# equals: token-one-too-far

import torch
import torch.nn.functional as F


def sample_token(probs, u):
    edges = F.pad(probs.double().cumsum(-1), (1, 0))
    u = torch.as_tensor(u, dtype=torch.float64, device=probs.device)
    last = (probs > 0).long().cumsum(-1).argmax(-1)
    return torch.minimum((edges <= u.unsqueeze(-1)).sum(-1), last)


# %% wrong_uniform_over_vocabulary: the draw picks a position of the vocabulary
# kind: mistake
# breaks: values
# equals: nothing

import torch


def sample_token(probs, u):
    support = (probs > 0).long()
    u = torch.as_tensor(u, device=probs.device)
    k = (u * support.sum(-1)).floor().long()
    return (support.cumsum(-1) > k.unsqueeze(-1)).long().argmax(-1)


# %% wrong_rank_returned: sorts, and returns the place in the sorted row
# kind: mistake
# breaks: values
# equals: token-rank-returned

import torch


def sample_token(probs, u):
    p = probs.double().sort(-1, descending=True).values
    u = torch.as_tensor(u, dtype=torch.float64, device=p.device)
    k = (p.cumsum(-1) <= u[..., None]).sum(-1)
    return torch.minimum(k, (p > 0).sum(-1) - 1)


# %% wrong_sorted_and_mapped: likely tokens come first in the sums: the law is right, the points are not
# kind: different
# breaks: values
# equals: token-by-rank

import torch


def sample_token(probs, u):
    p, order = probs.double().sort(-1, descending=True)
    u = torch.as_tensor(u, dtype=torch.float64, device=p.device)
    k = (p.cumsum(-1) <= u[..., None]).sum(-1)
    k = torch.minimum(k, (p > 0).sum(-1) - 1)
    return order.gather(-1, k.unsqueeze(-1)).squeeze(-1)


# %% wrong_axis_kept: the last axis stays, with size 1
# kind: mistake
# breaks: shapes
# equals: token-axis-kept

import torch


def sample_token(probs, u):
    cdf = probs.double().cumsum(-1)
    u = torch.as_tensor(u, dtype=torch.float64, device=probs.device)[..., None]
    last = (probs > 0).long().cumsum(-1).argmax(-1, keepdim=True)
    return torch.minimum(torch.searchsorted(cdf, u, right=True), last)


# %% wrong_int32: tokens of the dtype int32
# kind: mistake
# breaks: shapes
# equals: token-int32

import torch


def sample_token(probs, u):
    cdf = probs.double().cumsum(-1)
    u = torch.as_tensor(u, dtype=torch.float64, device=probs.device)[..., None]
    token = torch.searchsorted(cdf, u, right=True, out_int32=True)[..., 0]
    last = (probs > 0).int().cumsum(-1).argmax(-1).int()
    return torch.minimum(token, last)


# %% wrong_softmax_again: takes the probabilities for logits
# kind: mistake
# breaks: values
# equals: token-softmax-again

import torch


def sample_token(probs, u):
    p = torch.softmax(probs.double(), dim=-1)
    u = torch.as_tensor(u, dtype=torch.float64, device=p.device)
    token = (p.cumsum(-1) <= u.unsqueeze(-1)).sum(-1)
    return token.clamp(max=p.size(-1) - 1)


# %% wrong_first_axis: sums over the first axis: right for one row only
# kind: mistake
# breaks: values
# equals: token-summed-over-rows

import torch


def sample_token(probs, u):
    cdf = probs.double().cumsum(0)
    u = torch.as_tensor(u, dtype=torch.float64, device=probs.device)
    token = (cdf <= u.unsqueeze(-1)).sum(-1)
    last = (probs > 0).long().cumsum(-1).argmax(-1)
    return torch.minimum(token, last)


# %% wrong_cumsum_in_place: the caller's probabilities become running sums
# kind: mistake
# breaks: purity
# equals: token-sums-in-place

import torch


def sample_token(probs, u):
    last = (probs > 0).long().cumsum(-1).argmax(-1)
    cdf = probs.cumsum_(-1)
    u = torch.as_tensor(u, device=probs.device)
    return torch.minimum((cdf <= u.unsqueeze(-1)).sum(-1), last)


# %% right_sums_in_half: running sums in the dtype of the probabilities
# kind: policy
# later: precision

import torch


def sample_token(probs, u):
    cdf = probs.cumsum(-1)
    u = torch.as_tensor(u, device=probs.device)
    last = (probs > 0).long().cumsum(-1).argmax(-1)
    return torch.minimum((cdf <= u.unsqueeze(-1)).sum(-1), last)


# %% wrong_draws_along_the_vocabulary: the draws are compared without an axis for the tokens
# kind: mistake
# breaks: values
# equals: token-draws-without-axis

import torch


def sample_token(probs, u):
    cdf = probs.double().cumsum(-1)
    token = (cdf <= u).sum(-1)
    last = (probs > 0).long().cumsum(-1).argmax(-1)
    return torch.minimum(token, last)


# %% wrong_nearest_edge: the token whose running sum is nearest to the draw
# kind: mistake
# breaks: values
# equals: nothing

import torch


def sample_token(probs, u):
    cdf = probs.double().cumsum(-1)
    u = torch.as_tensor(u, dtype=torch.float64, device=probs.device)
    distance = (cdf - u.unsqueeze(-1)).abs().masked_fill(probs <= 0, torch.inf)
    return distance.argmin(-1)


# %% wrong_first_draw_for_all: all rows share the first draw
# kind: mistake
# breaks: values
# equals: token-first-draw-for-all

import torch


def sample_token(probs, u):
    draw = torch.as_tensor(u, dtype=torch.float64, device=probs.device).reshape(-1)[0]
    cdf = probs.double().cumsum(-1)
    last = (probs > 0).long().cumsum(-1).argmax(-1)
    return torch.minimum((cdf <= draw).sum(-1), last)
