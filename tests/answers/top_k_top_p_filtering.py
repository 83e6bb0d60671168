# %% right_sort_shift_scatter: the threshold of top-k, then the sorted mask moved one to the right and scattered back
# kind: same

import torch
import torch.nn.functional as F


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    V = logits.size(-1)
    if 0 < top_k < V:
        kth = logits.topk(top_k, dim=-1).values[..., -1:]
        logits = logits.masked_fill(logits < kth, float("-inf"))
    if top_p < 1.0:
        ordered, order = logits.sort(dim=-1, descending=True)
        mass = F.softmax(ordered.float(), dim=-1).cumsum(dim=-1)
        remove = mass >= top_p
        remove = torch.cat((torch.zeros_like(remove[..., :1]), remove[..., :-1]), dim=-1)
        remove = torch.zeros_like(remove).scatter(-1, order, remove)
        logits = logits.masked_fill(remove, float("-inf"))
    return logits


# %% right_ascending: from the least likely up, as in the warper of transformers
# kind: same

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    scores = logits.clone()
    if top_k > 0:
        top_k = min(top_k, scores.size(-1))
        scores[scores < torch.topk(scores, top_k)[0][..., -1, None]] = -float("inf")
    if top_p < 1.0:
        sorted_logits, sorted_indices = torch.sort(scores, descending=False)
        cumulative = sorted_logits.double().softmax(dim=-1).cumsum(dim=-1)
        sorted_remove = cumulative <= (1 - top_p)
        sorted_remove[..., -1:] = False
        remove = sorted_remove.scatter(-1, sorted_indices, sorted_remove)
        scores = scores.masked_fill(remove, -float("inf"))
    return scores


# %% right_lowest_kept_logit: counts how many stay and cuts at the last of them
# kind: same

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    V = logits.shape[-1]
    k = top_k if 0 < top_k < V else V
    best = logits.topk(k, dim=-1).values
    count = torch.full(logits.shape[:-1] + (1,), k, device=logits.device)
    if top_p < 1:
        cum = torch.softmax(best, dim=-1, dtype=torch.float64).cumsum(-1)
        count = 1 + (cum < top_p).sum(-1, keepdim=True)
        count = count.clamp(max=k)
    lowest = best.gather(-1, count - 1)
    return torch.where(logits >= lowest, logits, torch.full_like(logits, -torch.inf))


# %% right_pairwise: no sort: the mass of all tokens above a token, by comparison of all pairs
# kind: same

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    above = logits.unsqueeze(-2) > logits.unsqueeze(-1)  # [..., i, j]: j is above i
    keep = torch.ones_like(logits, dtype=torch.bool)
    if top_k > 0:
        keep = above.sum(-1) < top_k
    if top_p < 1:
        p = logits.masked_fill(~keep, -torch.inf).double().softmax(-1)
        mass_above = (above * p.unsqueeze(-2)).sum(-1)
        keep = keep & ((mass_above < top_p) | ~above.any(-1))
    return logits.masked_fill(~keep, -torch.inf)


# %% right_row_by_row: plain loops over the rows and over the sorted tokens
# kind: same

import math

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    V = logits.shape[-1]
    rows = logits.reshape(-1, V)
    out = torch.full_like(rows, -math.inf)
    for r in range(rows.shape[0]):
        order = sorted(range(V), key=lambda i: -rows[r, i].item())
        if top_k > 0:
            order = order[:top_k]
        if top_p < 1.0:
            top = rows[r, order[0]].item()
            weights = [math.exp(rows[r, i].item() - top) for i in order]
            total, mass, kept = sum(weights), 0.0, []
            for i, w in zip(order, weights):
                kept.append(i)
                mass += w / total
                if mass >= top_p:
                    break
            order = kept
        out[r, order] = rows[r, order]
    return out.reshape(logits.shape)


# %% right_ranks: the rank of each token by two argsorts
# kind: same

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    order = logits.argsort(dim=-1, descending=True)
    rank = order.argsort(dim=-1)
    keep = rank < top_k if top_k > 0 else torch.ones_like(rank, dtype=torch.bool)
    if top_p < 1.0:
        probs = torch.softmax(logits.float().masked_fill(~keep, float("-inf")), dim=-1)
        sorted_probs = probs.gather(-1, order)
        before = sorted_probs.cumsum(-1) - sorted_probs
        keep &= (before.gather(-1, rank) < top_p) | (rank == 0)
    return logits.masked_fill(keep.logical_not(), float("-inf"))


# %% right_scatter_of_the_kept: a fresh row of -inf, into which the best are written
# kind: same

import torch


def _nucleus(best, top_p):
    mass = torch.cumsum(best.float().softmax(-1), -1)
    n_before = torch.nn.functional.pad(mass, (1, -1))
    cut = n_before >= top_p
    cut[..., 0] = False
    return best.masked_fill(cut, -torch.inf)


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    V = logits.size(-1)
    best, where = torch.topk(logits, V if top_k == 0 else min(top_k, V), dim=-1, sorted=True)
    if top_p < 1:
        best = _nucleus(best, top_p)
    return torch.full_like(logits, -torch.inf).scatter_(-1, where, best)


# %% right_additive_bias: adds 0 or -1e9 to the logits
# kind: same

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    x = logits.float() if logits.dtype in (torch.float16, torch.bfloat16) else logits
    bias = torch.zeros_like(x)
    if 0 < top_k < x.size(-1):
        low = torch.topk(-x, x.size(-1) - top_k, dim=-1).indices
        bias.scatter_(-1, low, -1e9)
    if top_p < 1.0:
        p, idx = (x + bias).softmax(-1).sort(-1, descending=True)
        drop = (p.cumsum(-1) - p) >= top_p
        drop[..., 0] = False
        bias.scatter_add_(-1, idx, -1e9 * drop.to(x.dtype))
    return (x + bias).to(logits.dtype)


# %% right_searchsorted: where top_p would be inserted in the running sums
# kind: same

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    vocab = logits.size(-1)
    values, indices = logits.sort(-1, descending=True)
    n = torch.full(logits.shape[:-1], vocab, device=logits.device)
    if top_k:
        n = n.clamp(max=top_k)
    place = torch.arange(vocab, device=logits.device)
    if top_p < 1:
        p = values.double().masked_fill(place >= n[..., None], -torch.inf).softmax(-1)
        cdf = p.cumsum(-1)
        target = torch.full_like(cdf[..., :1], top_p)
        n = torch.minimum(n, torch.searchsorted(cdf, target)[..., 0] + 1)
    values = values.masked_fill(place >= n[..., None], -torch.inf)
    return values.gather(-1, indices.argsort(-1))


# %% wrong_crossing_left_out: the token that crosses top_p is dropped; only the best one is protected
# kind: mistake
# breaks: values
# equals: filter-crossing-token-dropped

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    if top_k > 0:
        k = min(top_k, logits.size(-1))
        logits = logits.masked_fill(logits < logits.topk(k)[0][..., -1:], -torch.inf)
    if top_p < 1.0:
        s, i = logits.sort(descending=True)
        remove = s.float().softmax(-1).cumsum(-1) > top_p
        remove[..., 0] = False
        logits = logits.masked_fill(remove.scatter(-1, i, remove), -torch.inf)
    return logits


# %% wrong_rolled_mask: the mask is rolled by one, and the last entry lands on the best token
# kind: mistake
# breaks: values
# equals: filter-mask-rolled

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    out = logits.clone()
    if 0 < top_k < out.shape[-1]:
        threshold = out.topk(top_k, -1).values.min(-1, keepdim=True).values
        out[out < threshold] = -float("inf")
    if top_p < 1.0:
        s, order = torch.sort(out, dim=-1, descending=True)
        remove = s.float().softmax(-1).cumsum(-1) > top_p
        remove = remove.roll(1, dims=-1)
        mask = torch.zeros_like(remove).scatter_(-1, order, remove)
        out[mask] = -float("inf")
    return out


# %% wrong_top_p_first: top-p first, then top-k
# kind: different
# breaks: values
# equals: filter-p-before-k

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    if top_p < 1.0:
        s, i = logits.sort(dim=-1, descending=True)
        p = s.float().softmax(dim=-1)
        drop = p.cumsum(-1) - p >= top_p
        drop[..., 0] = False
        logits = logits.masked_fill(drop.scatter(-1, i, drop), float("-inf"))
    if 0 < top_k < logits.size(-1):
        kth = logits.topk(top_k, dim=-1).values[..., -1:]
        logits = logits.masked_fill(logits < kth, float("-inf"))
    return logits


# %% wrong_old_mass: both masks from the untouched logits, combined by and
# kind: different
# breaks: values
# equals: filter-p-before-k

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    V = logits.size(-1)
    probs, order = logits.float().softmax(-1).sort(-1, descending=True)
    rank = torch.arange(V, device=logits.device)
    keep = torch.ones_like(order, dtype=torch.bool)
    if top_k > 0:
        keep &= rank < top_k
    if top_p < 1.0:
        keep &= (probs.cumsum(-1) - probs < top_p) | (rank == 0)
    keep = torch.zeros_like(keep).scatter(-1, order, keep)
    return torch.where(keep, logits, -torch.inf)


# %% wrong_not_put_back: the mask of the sorted tokens is used on the unsorted logits
# kind: mistake
# breaks: values
# equals: filter-sorted-order

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    top_k = min(top_k, logits.size(-1))
    if top_k > 0:
        logits = logits.masked_fill(logits < torch.topk(logits, top_k)[0][..., -1, None], -torch.inf)
    if top_p < 1.0:
        sorted_logits = logits.sort(descending=True).values
        mass = torch.cumsum(sorted_logits.softmax(dim=-1, dtype=torch.float32), dim=-1)
        remove = mass > top_p
        remove[..., 1:] = remove[..., :-1].clone()
        remove[..., 0] = False
        logits = logits.masked_fill(remove, -torch.inf)
    return logits


# %% wrong_gather_for_scatter: the mask is gathered by the order, not scattered
# kind: mistake
# breaks: values
# equals: filter-wrong-way-back

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    if 0 < top_k < logits.size(-1):
        kth = logits.topk(top_k, dim=-1)[0][..., -1:]
        logits = torch.where(logits < kth, -torch.inf, logits)
    if top_p < 1.0:
        ordered, order = torch.sort(logits, dim=-1, descending=True)
        p = torch.softmax(ordered, dim=-1, dtype=torch.float32)
        remove = (p.cumsum(dim=-1) - p) >= top_p
        remove[..., 0] = False
        logits = torch.where(remove.gather(-1, order), -torch.inf, logits)
    return logits


# %% wrong_zero_for_removed: what is left out gets the logit 0
# kind: mistake
# breaks: values
# equals: filter-zero-for-left-out

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    order = logits.argsort(-1, descending=True)
    rank = order.argsort(-1)
    keep = rank < (top_k or logits.size(-1))
    if top_p < 1.0:
        p = logits.float().masked_fill(~keep, -torch.inf).softmax(-1).gather(-1, order)
        keep &= ((p.cumsum(-1) - p).gather(-1, rank) < top_p) | (rank == 0)
    return logits * keep


# %% wrong_caller_changed: writes -inf into the caller's logits
# kind: mistake
# breaks: purity
# equals: filter-overwrites

import torch
import torch.nn.functional as F


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0, filter_value=-float("inf")):
    top_k = min(top_k, logits.size(-1))
    if top_k > 0:
        indices_to_remove = logits < torch.topk(logits, top_k)[0][..., -1, None]
        logits[indices_to_remove] = filter_value
    if top_p < 1.0:
        sorted_logits, sorted_indices = torch.sort(logits, descending=True)
        cumulative_probs = torch.cumsum(F.softmax(sorted_logits.float(), dim=-1), dim=-1)
        sorted_indices_to_remove = cumulative_probs > top_p
        sorted_indices_to_remove[..., 1:] = sorted_indices_to_remove[..., :-1].clone()
        sorted_indices_to_remove[..., 0] = 0
        indices_to_remove = sorted_indices_to_remove.scatter(-1, sorted_indices, sorted_indices_to_remove)
        logits[indices_to_remove] = filter_value
    return logits


# %% wrong_one_too_many: the threshold is the token after the k-th
# kind: mistake
# breaks: values
# equals: filter-one-more-than-k

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    V = logits.size(-1)
    if 0 < top_k < V:
        threshold = logits.sort(dim=-1, descending=True).values[..., top_k, None]
        logits = logits.masked_fill(logits < threshold, -torch.inf)
    if top_p < 1.0:
        s, i = logits.sort(dim=-1, descending=True)
        p = s.float().softmax(-1)
        drop = p.cumsum(-1) - p >= top_p
        drop[..., 0] = False
        logits = logits.masked_fill(drop.scatter(-1, i, drop), -torch.inf)
    return logits


# %% wrong_ascending_from_the_wrong_end: sorted upwards, but compared as if it was sorted downwards
# kind: mistake
# breaks: values
# equals: filter-ascending

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    if top_k > 0:
        kth = logits.topk(min(top_k, logits.size(-1)), dim=-1).values[..., -1:]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    if top_p < 1.0:
        s, i = logits.sort(dim=-1)
        p = s.float().softmax(-1)
        drop = p.cumsum(-1) - p >= top_p
        drop[..., 0] = False
        logits = logits.masked_fill(drop.scatter(-1, i, drop), -torch.inf)
    return logits


# %% wrong_probabilities: returns the renormalised probabilities
# kind: different
# breaks: values
# equals: filter-probabilities-returned

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    probs = logits.float().softmax(-1)
    if 0 < top_k < probs.size(-1):
        kth = probs.topk(top_k, dim=-1).values[..., -1:]
        probs = probs * (probs >= kth)
        probs = probs / probs.sum(-1, keepdim=True)
    if top_p < 1.0:
        s, i = probs.sort(-1, descending=True)
        s = s.masked_fill((s.cumsum(-1) - s >= top_p) & (torch.arange(s.size(-1), device=s.device) > 0), 0.0)
        probs = torch.zeros_like(probs).scatter(-1, i, s)
        probs = probs / probs.sum(-1, keepdim=True)
    return probs


# %% wrong_log_probabilities: the kept values are log-softmax values, not the logits that came
# kind: mistake
# breaks: values
# equals: filter-log-probabilities

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    logp = logits.log_softmax(-1)
    if 0 < top_k < logp.size(-1):
        logp = logp.masked_fill(logp < logp.topk(top_k)[0][..., -1:], -torch.inf)
        logp = logp.log_softmax(-1)
    if top_p < 1.0:
        s, i = logp.sort(-1, descending=True)
        drop = s.logcumsumexp(-1).exp() - s.exp() >= top_p
        drop[..., 0] = False
        logp = logp.masked_fill(drop.scatter(-1, i, drop), -torch.inf).log_softmax(-1)
    return logp


# %% wrong_k_above_v: topk is asked for more tokens than there are
# kind: mistake
# breaks: defaults
# equals: filter-k-above-size

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    if top_k > 0:
        kth = torch.topk(logits, top_k, dim=-1).values[..., -1:]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    if top_p < 1.0:
        s, i = torch.sort(logits, dim=-1, descending=True)
        p = s.float().softmax(-1)
        drop = p.cumsum(-1) - p >= top_p
        drop[..., 0] = False
        logits = logits.masked_fill(drop.scatter(-1, i, drop), -torch.inf)
    return logits


# %% wrong_zero_is_none: top_k = 0 keeps no token
# kind: mistake
# breaks: values
# equals: filter-k-zero-keeps-none

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    rank = logits.argsort(-1, descending=True).argsort(-1)
    logits = logits.masked_fill(rank >= top_k, -torch.inf)
    if top_p < 1.0:
        s, i = logits.sort(-1, descending=True)
        p = s.float().softmax(-1)
        drop = p.cumsum(-1) - p >= top_p
        drop[..., 0] = False
        logits = logits.masked_fill(drop.scatter(-1, i, drop), -torch.inf)
    return logits


# %% wrong_rows_share_the_removal: what one row removes is removed in all rows
# kind: mistake
# breaks: values
# equals: filter-removed-in-all-rows

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    logits = logits.clone()
    if 0 < top_k < logits.size(-1):
        logits[logits < torch.topk(logits, top_k)[0][..., -1, None]] = -float("inf")
    if top_p < 1.0:
        s, i = torch.sort(logits, descending=True)
        remove = s.float().softmax(-1).cumsum(-1) > top_p
        remove[..., 1:] = remove[..., :-1].clone()
        remove[..., 0] = False
        logits[..., i[remove]] = -float("inf")
    return logits


# %% wrong_one_threshold_for_all_rows: the k-th value is the smallest over the whole batch
# kind: mistake
# breaks: values
# equals: filter-k-of-first-row

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    if 0 < top_k < logits.size(-1):
        kth = torch.topk(logits, top_k, dim=-1).values.min()
        logits = logits.masked_fill(logits < kth, -torch.inf)
    if top_p < 1.0:
        s, i = torch.sort(logits, dim=-1, descending=True)
        p = s.float().softmax(-1)
        drop = p.cumsum(-1) - p >= top_p
        drop[..., 0] = False
        logits = logits.masked_fill(drop.scatter(-1, i, drop), -torch.inf)
    return logits


# %% wrong_stays_sorted: the result is in the order of the probabilities, not of the vocabulary
# kind: mistake
# breaks: values
# equals: filter-sorted-returned

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    V = logits.size(-1)
    values, _ = logits.sort(dim=-1, descending=True)
    if 0 < top_k < V:
        values = values.clone()
        values[..., top_k:] = -torch.inf
    if top_p < 1.0:
        p = values.float().softmax(-1)
        drop = p.cumsum(-1) - p >= top_p
        drop[..., 0] = False
        values = values.masked_fill(drop, -torch.inf)
    return values


# %% wrong_nothing_left: top_p = 0 removes the best token too
# kind: mistake
# breaks: values
# equals: filter-none-stays

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    if 0 < top_k < logits.size(-1):
        kth = logits.topk(top_k, dim=-1).values[..., -1:]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    if top_p < 1.0:
        s, i = logits.sort(-1, descending=True)
        p = s.float().softmax(-1)
        keep = p.cumsum(-1) - p < top_p
        logits = logits.masked_fill(~keep.scatter(-1, i, keep), -torch.inf)
    return logits


# %% wrong_cumsum_in_vocabulary_order: the running mass is not over sorted probabilities
# kind: mistake
# breaks: values
# equals: filter-not-sorted

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    if 0 < top_k < logits.size(-1):
        kth = logits.topk(top_k, dim=-1).values[..., -1:]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    if top_p < 1.0:
        p = logits.float().softmax(-1)
        drop = (p.cumsum(-1) - p >= top_p) & (p < p.amax(-1, keepdim=True))
        logits = logits.masked_fill(drop, -torch.inf)
    return logits


# %% wrong_one_filter_or_the_other: top-p only if top-k is off
# kind: mistake
# breaks: values
# equals: filter-p-ignored-with-k

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    if top_k > 0:
        kth = logits.topk(min(top_k, logits.size(-1)), dim=-1).values[..., -1:]
        return logits.masked_fill(logits < kth, -torch.inf)
    elif top_p < 1.0:
        s, i = logits.sort(-1, descending=True)
        p = s.float().softmax(-1)
        drop = p.cumsum(-1) - p >= top_p
        drop[..., 0] = False
        return logits.masked_fill(drop.scatter(-1, i, drop), -torch.inf)
    return logits


# %% wrong_probability_below_p: removes each token whose own probability is below 1 - top_p
# kind: mistake
# breaks: values
# equals: filter-single-probabilities

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    if 0 < top_k < logits.size(-1):
        kth = logits.topk(top_k, dim=-1).values[..., -1:]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    if top_p < 1.0:
        p = logits.float().softmax(-1)
        small = (p < 1 - top_p) & (p < p.max(-1, keepdim=True).values)
        logits = logits.masked_fill(small, -torch.inf)
    return logits


# %% right_float32_returned: computes in float32 and stays there
# kind: policy
# later: precision

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    logits = logits.float()
    if 0 < top_k < logits.size(-1):
        kth = logits.topk(top_k, dim=-1).values[..., -1:]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    if top_p < 1.0:
        s, i = logits.sort(-1, descending=True)
        p = s.softmax(-1)
        drop = p.cumsum(-1) - p >= top_p
        drop[..., 0] = False
        logits = logits.masked_fill(drop.scatter(-1, i, drop), -torch.inf)
    return logits


# %% right_mass_in_half: softmax and running sum in bfloat16 or float16
# kind: policy
# later: precision

import torch


def top_k_top_p_filtering(logits, top_k=0, top_p=1.0):
    if 0 < top_k < logits.size(-1):
        kth = logits.topk(top_k, dim=-1).values[..., -1:]
        logits = logits.masked_fill(logits < kth, -torch.inf)
    if top_p < 1.0:
        s, i = logits.sort(-1, descending=True)
        remove = s.softmax(-1).cumsum(-1) >= top_p
        remove = remove.roll(1, -1)
        remove[..., 0] = False
        logits = logits.masked_fill(remove.scatter(-1, i, remove), -torch.inf)
    return logits
