# %% right_additive_log_mask: adds the log of the 0/1 mask to the scores
# kind: same

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    lens = valid_lens.reshape(X.shape[0], -1, 1)
    keep = (torch.arange(X.shape[-1], device=X.device) < lens).to(X.dtype)
    return torch.softmax(X + keep.log(), dim=-1)      # log 1 = 0, log 0 = -inf


# %% right_book_in_place: writes the fill of -1e6 into the scores, as the book does
# kind: same

import torch
from torch import nn

def sequence_mask(X, valid_len, value=0):
    maxlen = X.size(1)
    mask = torch.arange((maxlen), dtype=torch.float32,
                        device=X.device)[None, :] < valid_len[:, None]
    X[~mask] = value
    return X

def masked_softmax(X, valid_lens):
    """Perform softmax operation by masking elements on the last axis."""
    # X: 3D tensor, valid_lens: 1D or 2D tensor
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    else:
        shape = X.shape
        if valid_lens.dim() == 1:
            valid_lens = torch.repeat_interleave(valid_lens, shape[1])
        else:
            valid_lens = valid_lens.reshape(-1)
        # On the last axis, replace masked elements with a very large negative
        # value, whose exponentiation outputs 0
        X = sequence_mask(X.reshape(-1, shape[-1]), valid_lens, value=-1e6)
        return nn.functional.softmax(X.reshape(shape), dim=-1)


# %% right_double_inside: works in float64 inside and casts back
# kind: same

import torch

def masked_softmax(X, valid_lens):
    Y = X.double()
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        Y = torch.where(torch.arange(X.shape[-1], device=X.device) < lens, Y, Y.new_tensor(-1e30))
    return torch.softmax(Y, dim=-1).to(X.dtype)


# %% right_exp_by_hand: exp and sum by hand, largest score subtracted first
# kind: same

import torch

def masked_softmax(X, valid_lens):
    keep = torch.ones_like(X)
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        keep = (torch.arange(X.shape[-1], device=X.device) < lens).to(X.dtype)
    top = X.detach().amax(dim=-1, keepdim=True)       # a constant per row changes nothing
    e = torch.exp(X - top) * keep
    return e / e.sum(dim=-1, keepdim=True)


# %% right_fill_1e6: masked_fill with the literal -1e6
# kind: policy
# later: precision

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(dim=-1)
    B, T, S = X.shape
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.view(B, 1).expand(B, T)
    padding = torch.arange(S, device=X.device).view(1, 1, S) >= valid_lens.view(B, T, 1)
    return X.masked_fill(padding, -1e6).softmax(dim=-1)


# %% right_fill_1e9: masked_fill with -1e9 (raises on half)
# kind: policy
# later: precision

import torch
import torch.nn.functional as F

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens.unsqueeze(-1) if valid_lens.dim() == 2 else valid_lens[:, None, None]
        mask = torch.arange(X.size(-1), device=X.device)[None, None, :] < lens
        X = X.masked_fill(mask == 0, -1e9)
    return F.softmax(X, dim=-1)


# %% right_finfo_min: fills with the smallest number of the dtype
# kind: same

import torch
from typing import Optional

def masked_softmax(X: torch.Tensor, valid_lens: Optional[torch.Tensor]) -> torch.Tensor:
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)                    # (B, 1 or T, 1)
        padded = torch.arange(X.shape[-1], device=X.device) >= lens     # (B, 1 or T, S)
        X = X.masked_fill(padded, torch.finfo(X.dtype).min)
    return X.softmax(-1)


# %% right_flat_rows: flattens to rows, one length each
# kind: same

import torch
from torch import nn

def _lengths_per_row(valid_lens, shape):
    if valid_lens.dim() == 1:
        return valid_lens.repeat_interleave(shape[1])
    return valid_lens.flatten()

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    rows = X.reshape(-1, X.shape[-1])
    n = _lengths_per_row(valid_lens, X.shape)
    hide = ~(torch.arange(X.shape[-1], device=X.device).unsqueeze(0) < n.unsqueeze(1))
    rows = rows.masked_fill(hide, -torch.inf)
    return nn.Softmax(dim=-1)(rows).reshape(X.shape)


# %% right_logsumexp: exp of the score minus the logsumexp over the valid keys
# kind: same

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        L = valid_lens if valid_lens.dim() == 2 else valid_lens[:, None]
        bad = torch.arange(X.shape[-1], device=X.device)[None, None] >= L[..., None]
        X = X.masked_fill(bad, torch.finfo(X.dtype).min)
    return torch.exp(X - torch.logsumexp(X, dim=-1, keepdim=True))


# %% right_loop_over_batch_slices: softmax over slices of each sequence written into zeros
# kind: same

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    out = torch.zeros_like(X)
    for i in range(X.size(0)):
        for j in range(X.size(1)):
            n = valid_lens[i] if valid_lens.dim() == 1 else valid_lens[i, j]
            out[i, j, :n] = torch.softmax(X[i, j, :n], dim=-1)
    return out


# %% right_loop_over_prefixes: takes softmax of each valid prefix and pads with zeros
# kind: same

import torch

def masked_softmax(X, valid_lens):
    B, T, S = X.shape
    if valid_lens is None:
        lens = [[S] * T for _ in range(B)]
    elif valid_lens.dim() == 1:
        lens = [[n] * T for n in valid_lens.tolist()]
    else:
        lens = valid_lens.tolist()
    out = []
    for b in range(B):
        rows = []
        for t in range(T):
            n = int(lens[b][t])
            p = torch.softmax(X[b, t, :n], dim=0)
            rows.append(torch.cat([p, X.new_zeros(S - n)]))
        out.append(torch.stack(rows))
    return torch.stack(out)


# %% right_minus_infinity: fill = -inf (fully masked rows give NaN)
# kind: same

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    lens = valid_lens.unsqueeze(-1) if valid_lens.dim() == 2 else valid_lens[:, None, None]
    keep = torch.arange(X.shape[-1], device=X.device) < lens
    return torch.softmax(X.masked_fill(~keep, float("-inf")), dim=-1)


# %% right_returns_float32: casts to float32 internally and returns float32
# kind: policy
# later: precision

import torch

def masked_softmax(X, valid_lens):
    scores = X.float()
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        scores = scores.masked_fill(torch.arange(X.shape[-1], device=X.device) >= lens, -1e30)
    return torch.softmax(scores, dim=-1)


# %% right_steps_on_cpu: counts the keys on the CPU whatever the device of the scores
# kind: policy
# later: device

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, -1)
    lens = valid_lens[:, None, None] if valid_lens.ndim == 1 else valid_lens[..., None]
    return torch.softmax(X.masked_fill(torch.arange(X.shape[-1]) >= lens, float('-inf')), -1)


# %% right_torch_masked: uses torch.masked.softmax
# kind: same

import torch
from torch import masked

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    lens = valid_lens.reshape(X.shape[0], -1, 1)
    keep = (torch.arange(X.shape[-1], device=X.device) < lens).expand(X.shape)
    return masked.softmax(X, -1, mask=keep)


# %% right_where_inf: torch.where against minus infinity
# kind: same

import torch

def masked_softmax(X, valid_lens):
    B, T, S = X.shape
    if valid_lens is None:
        valid_lens = torch.full((B, T), S, device=X.device)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.repeat_interleave(T).view(B, T)
    visible = torch.arange(S, device=X.device).expand(B, T, S) < valid_lens[..., None]
    ninf = torch.tensor(float('-inf'), dtype=X.dtype, device=X.device)
    return torch.where(visible, X, ninf).softmax(dim=2)


# %% right_writes_into_scores: writes the fill into the caller's scores in place
# kind: same

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        if valid_lens.dim() == 1:
            valid_lens = valid_lens[:, None]
        X.masked_fill_(torch.arange(X.size(2), device=X.device) >= valid_lens[:, :, None], float('-inf'))
    return torch.softmax(X, dim=-1)


# %% right_zero_and_renormalise: softmax, zero the masked weights, divide by what is left
# kind: same

import torch

def masked_softmax(X, valid_lens):
    w = torch.softmax(X, dim=-1)
    if valid_lens is None:
        return w
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.unsqueeze(-1)
    mask = torch.arange(X.shape[-1], device=X.device) < valid_lens.unsqueeze(-1)
    w = w * mask
    return w / w.sum(dim=-1, keepdim=True)


# %% wrong_always_causal: also hides keys after the query's own position
# kind: mistake
# breaks: values, gradients
# equals: softmax-also-causal

import torch

def masked_softmax(X, valid_lens):
    B, T, S = X.shape
    keep = torch.ones(T, S, dtype=torch.bool, device=X.device).tril().expand(B, T, S)
    if valid_lens is not None:
        keep = keep & (torch.arange(S, device=X.device) < valid_lens.reshape(B, -1, 1))
    return torch.softmax(X.masked_fill(~keep, -1e6), dim=-1)


# %% wrong_detached: scores detached (no gradient)
# kind: mistake
# breaks: gradients
# equals: softmax-detached

import torch

def masked_softmax(X, valid_lens):
    scores = X.detach().clone()
    if valid_lens is not None:
        if valid_lens.dim() == 1:
            valid_lens = valid_lens.unsqueeze(1)
        mask = torch.arange(scores.shape[-1], device=X.device) >= valid_lens.unsqueeze(-1)
        scores[mask.expand_as(scores)] = -1e6
    return scores.softmax(dim=-1)


# %% wrong_divided_by_root: divides the scores by the root of the number of keys
# kind: mistake
# breaks: values, gradients
# equals: softmax-scaled-by-keys

import math
import torch

def masked_softmax(X, valid_lens):
    X = X / math.sqrt(X.shape[-1])
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        X = X.masked_fill(torch.arange(X.shape[-1], device=X.device) >= lens, -1e6)
    return torch.softmax(X, dim=-1)


# %% wrong_divides_by_count: divides exp by the number of valid keys instead of their sum
# kind: mistake
# breaks: values, gradients
# equals: nothing

import torch

def masked_softmax(X, valid_lens):
    B, T, S = X.shape
    if valid_lens is None:
        valid_lens = torch.full((B,), S, device=X.device)
    lens = valid_lens.reshape(B, -1, 1)
    e = torch.exp(X) * (torch.arange(S, device=X.device) < lens)
    return e / lens


# %% wrong_fill_positive: fills with plus 1e6, so padding gets all the weight
# kind: mistake
# breaks: values, gradients
# equals: softmax-fills-high

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    lens = valid_lens.unsqueeze(-1) if valid_lens.dim() == 2 else valid_lens[:, None, None]
    return torch.softmax(X.masked_fill(torch.arange(X.shape[-1], device=X.device) >= lens, 1e6), dim=-1)


# %% wrong_fill_too_mild: fills with a number that is not small enough
# kind: mistake
# breaks: values, gradients
# equals: nothing

import torch

def masked_softmax(X, valid_lens):
    NEG = -5.0
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        cols = torch.arange(X.shape[2], device=X.device)
        X = torch.where(cols < lens, X, torch.full_like(X, NEG))
    return torch.softmax(X, dim=2)


# %% wrong_fills_zero: fills masked scores with 0
# kind: mistake
# breaks: values, gradients
# equals: softmax-fills-zero

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        if valid_lens.ndim == 1:
            valid_lens = valid_lens.reshape(-1, 1)
        pad = torch.arange(X.size(-1), device=X.device) >= valid_lens.unsqueeze(-1)
        X = X.masked_fill(pad, 0)
    return torch.softmax(X, dim=-1)


# %% wrong_first_column_of_lens: 2-D lens: only first column used for all queries
# kind: mistake
# breaks: values, gradients
# equals: softmax-first-query-length

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=2)
    if valid_lens.dim() > 1:
        valid_lens = valid_lens[:, 0]
    B, T, S = X.shape
    m = torch.arange(S, device=X.device).expand(B, T, S) < valid_lens.view(B, 1, 1)
    return torch.softmax(torch.where(m, X, torch.full_like(X, -1e9)), dim=2)


# %% wrong_first_length_for_all: uses the first sequence's length for the whole batch
# kind: mistake
# breaks: values, gradients
# equals: softmax-first-sequence-lengths

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, -1)
    X = X.clone()
    if valid_lens.dim() == 1:
        X[:, :, int(valid_lens[0]):] = -1e6
    else:
        for t in range(X.shape[1]):
            X[:, t, int(valid_lens[0, t]):] = -1e6
    return torch.softmax(X, -1)


# %% wrong_inverted: masks the valid keys and keeps the padding
# kind: mistake
# breaks: values, gradients
# equals: softmax-keeps-the-padding

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.unsqueeze(1)
    mask = torch.arange(X.shape[-1], device=X.device) < valid_lens.unsqueeze(-1)
    # mask out
    return torch.softmax(X.masked_fill(mask, -1e6), dim=-1)


# %% wrong_keeps_last_keys: keeps the last keys of each row instead of the first
# kind: mistake
# breaks: values, gradients
# equals: softmax-keeps-last-keys

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    S = X.shape[-1]
    lens = valid_lens.reshape(X.shape[0], -1, 1)
    keep = torch.arange(S, device=X.device) >= S - lens
    return torch.softmax(X.masked_fill(~keep, float('-inf')), dim=-1)


# %% wrong_last_valid_dropped: off by one the other way: cols < len - 1
# kind: mistake
# breaks: values, gradients
# equals: softmax-last-real-key-hidden

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(-1)
    lens = valid_lens.view(X.shape[0], -1, 1) - 1
    cols = torch.arange(X.shape[-1], device=X.device)
    return X.masked_fill(cols >= lens, -1e6).softmax(-1)


# %% wrong_len_itself_kept: off by one: cols <= len
# kind: mistake
# breaks: values, gradients
# equals: softmax-one-key-too-many

import torch
from torch import nn

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    shape = X.shape
    if valid_lens.dim() == 1:
        valid_lens = torch.repeat_interleave(valid_lens, shape[1])
    else:
        valid_lens = valid_lens.reshape(-1)
    X = X.reshape(-1, shape[-1])
    mask = torch.arange(shape[-1], device=X.device)[None, :] <= valid_lens[:, None]
    X = X.masked_fill(~mask, float('-inf'))
    return nn.functional.softmax(X.reshape(shape), dim=-1)


# %% wrong_lens_changed_in_place: changes the caller's lengths in place
# kind: mistake
# breaks: purity
# equals: softmax-changes-the-lengths

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    valid_lens -= 1      # last valid index
    last = valid_lens.reshape(X.shape[0], -1, 1)
    return torch.softmax(X.masked_fill(torch.arange(X.shape[-1], device=X.device) > last, -1e6), dim=-1)


# %% wrong_lens_flattened_by_columns: flattens 2-D lengths column by column
# kind: mistake
# breaks: values, gradients
# equals: softmax-lens-read-by-columns

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(dim=-1)
    B, T, S = X.shape
    if valid_lens.dim() == 1:
        rows = valid_lens.repeat_interleave(T)
    else:
        rows = valid_lens.t().reshape(-1)
    flat = X.reshape(B * T, S)
    flat = flat.masked_fill(torch.arange(S, device=X.device)[None] >= rows[:, None], -1e6)
    return flat.softmax(dim=-1).reshape(B, T, S)


# %% wrong_lens_tiled: lengths per sequence tiled with repeat instead of repeat_interleave
# kind: mistake
# breaks: values, gradients
# equals: softmax-lens-tiled

import torch
from torch import nn

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    else:
        shape = X.shape
        if valid_lens.dim() == 1:
            valid_lens = valid_lens.repeat(shape[1])
        else:
            valid_lens = valid_lens.reshape(-1)
        X = X.reshape(-1, shape[-1])
        mask = torch.arange(X.size(1), device=X.device)[None, :] < valid_lens[:, None]
        X = torch.where(mask, X, torch.tensor(-1e6, dtype=X.dtype, device=X.device))
        return nn.functional.softmax(X.reshape(shape), dim=-1)


# %% wrong_log_softmax: log_softmax instead of softmax
# kind: mistake
# breaks: values, gradients
# equals: softmax-logarithms

import torch
import torch.nn.functional as F

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1)
        pad = torch.arange(X.shape[-1], device=X.device)[None, None] >= lens[:, :, None]
        X = X.masked_fill(pad, -1e6)
    return F.log_softmax(X, dim=-1)


# %% wrong_longest_len_for_all_queries: 2-D lens: the longest length of a sequence serves all its queries
# kind: mistake
# breaks: values, gradients
# equals: softmax-longest-query-length

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    out = torch.zeros_like(X)
    L = valid_lens.reshape(X.shape[0], -1).expand(X.shape[0], X.shape[1])
    for b in range(X.shape[0]):
        n = int(L[b].max())      # one length a sequence is enough
        out[b, :, :n] = torch.softmax(X[b, :, :n], dim=-1)
    return out


# %% wrong_mask_without_query_axis: builds a (B, S) mask that lacks the query axis
# kind: mistake
# breaks: values, gradients
# equals: softmax-mask-without-queries

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    mask = torch.arange(X.shape[-1], device=X.device) < valid_lens.unsqueeze(-1)
    return torch.softmax(X.masked_fill(~mask, -1e6), dim=-1)


# %% wrong_no_exponential: normalises the raw scores without exp
# kind: mistake
# breaks: values, gradients
# equals: nothing

import torch

def masked_softmax(X, valid_lens):
    pos = X - X.min(dim=-1, keepdim=True).values
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        pos = pos * (torch.arange(X.shape[-1], device=X.device) < lens)
    return pos / (pos.sum(dim=-1, keepdim=True) + 1e-8)


# %% wrong_no_grad: runs under torch.no_grad
# kind: mistake
# breaks: gradients
# equals: softmax-detached

import torch
from torch import nn

@torch.no_grad()
def masked_softmax(X, valid_lens):
    """Perform softmax by masking elements on the last axis."""
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    lens = valid_lens if valid_lens.dim() == 2 else valid_lens[:, None]
    keep = torch.arange(X.shape[-1], device=X.device) < lens[:, :, None]
    return nn.functional.softmax(X.masked_fill(~keep, float('-inf')), dim=-1)


# %% wrong_none_returns_scores: returns the scores when there are no lengths
# kind: mistake
# breaks: values, gradients
# equals: softmax-none-gives-scores

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X
    lens = valid_lens.unsqueeze(-1) if valid_lens.dim() == 2 else valid_lens.view(-1, 1, 1)
    keep = torch.arange(X.shape[-1], device=X.device) < lens
    return torch.softmax(X.masked_fill(~keep, -1e6), dim=-1)


# %% wrong_over_batch: softmax over the batch axis
# kind: mistake
# breaks: values, gradients
# equals: softmax-over-batch

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        X = X.masked_fill(torch.arange(X.shape[2], device=X.device) >= lens, -1e6)
    return torch.nn.Softmax(dim=0)(X)


# %% wrong_over_everything: one softmax over queries and keys together
# kind: mistake
# breaks: values, gradients
# equals: softmax-over-everything

import torch

def masked_softmax(X, valid_lens):
    B, T, S = X.shape
    if valid_lens is not None:
        L = valid_lens.view(B, -1, 1)
        X = X.masked_fill(torch.arange(S, device=X.device).view(1, 1, S) >= L, float('-inf'))
    return X.reshape(B, T * S).softmax(dim=1).reshape(B, T, S)


# %% wrong_over_queries: softmax over dim=1 (queries)
# kind: mistake
# breaks: values, gradients
# equals: softmax-over-queries

import torch
from torch import nn

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return nn.functional.softmax(X, dim=1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None].expand(X.shape[0], X.shape[1])
    keep = torch.arange(X.shape[2], device=X.device) < valid_lens[:, :, None]
    return nn.functional.softmax(X.masked_fill(~keep, -1e6), dim=1)


# %% wrong_renormalised_over_all: renormalises over queries and keys together after masking
# kind: mistake
# breaks: values, gradients
# equals: nothing

import torch

def masked_softmax(X, valid_lens):
    w = torch.softmax(X, dim=-1)
    if valid_lens is None:
        return w
    lens = valid_lens.reshape(X.shape[0], -1, 1)
    w = w * (torch.arange(X.shape[-1], device=X.device) < lens)
    return w / w.sum(dim=(1, 2), keepdim=True) * X.shape[1]


# %% wrong_result_thrown_away: out-of-place masked_fill, result thrown away
# kind: mistake
# breaks: values, gradients
# equals: softmax-fill-thrown-away

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens[:, None, None] if valid_lens.dim() == 1 else valid_lens[:, :, None]
        mask = torch.arange(X.shape[-1], device=X.device)[None, None, :] >= lens
        X.masked_fill(mask, value=float("-inf"))
    return torch.softmax(X, dim=-1)


# %% wrong_rows_masked: masks query rows instead of key columns
# kind: mistake
# breaks: values, gradients
# equals: nothing

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    B, T, S = X.shape
    if valid_lens.dim() == 2:
        valid_lens = valid_lens[:, -1]
    rows = torch.arange(T, device=X.device)[None, :, None]
    X = X.masked_fill(rows >= valid_lens[:, None, None], -1e6)
    return torch.softmax(X, dim=-1)


# %% wrong_scores_times_mask: multiplies the scores by the 0/1 mask before softmax
# kind: mistake
# breaks: values, gradients
# equals: softmax-fills-zero

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None].repeat(1, X.shape[1])
    mask = (torch.arange(X.shape[2], device=X.device)[None, None, :] < valid_lens[:, :, None]).float()
    return torch.softmax(X * mask, dim=-1)


# %% wrong_softmax_twice: applies softmax twice
# kind: mistake
# breaks: values, gradients
# equals: softmax-twice

import torch

def masked_softmax(X, valid_lens):
    p = X
    if valid_lens is not None:
        lens = valid_lens.unsqueeze(-1) if valid_lens.dim() == 2 else valid_lens.view(-1, 1, 1)
        p = p.masked_fill(torch.arange(X.shape[-1], device=X.device) >= lens, -1e6)
    p = torch.softmax(p, dim=-1)
    return torch.softmax(p, dim=-1)


# %% wrong_tiny_instead_of_huge: writes -1e-6 where -1e6 was meant
# kind: mistake
# breaks: values, gradients
# equals: softmax-fills-zero

import torch
from torch import nn

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    shape = X.shape
    valid_lens = torch.repeat_interleave(valid_lens, shape[1]) if valid_lens.dim() == 1 else valid_lens.reshape(-1)
    X = X.reshape(-1, shape[-1])
    X[torch.arange(shape[-1], device=X.device)[None, :] >= valid_lens[:, None]] = -1e-6
    return nn.functional.softmax(X.reshape(shape), dim=-1)


# %% wrong_truth_of_lens: if not valid_lens instead of is None
# kind: mistake
# breaks: values, gradients
# equals: softmax-truth-of-lens

import torch

def masked_softmax(X, valid_lens):
    if not valid_lens:
        return torch.nn.functional.softmax(X, dim=-1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.repeat_interleave(X.shape[1]).reshape(X.shape[:2])
    mask = torch.arange(X.shape[2], device=X.device) < valid_lens.unsqueeze(-1)
    return torch.nn.functional.softmax(X.masked_fill(~mask, -1e6), dim=-1)


# %% wrong_two_axis_lens_ignored: masks only when lengths are one per sequence
# kind: mistake
# breaks: values, gradients
# equals: softmax-query-lengths-ignored

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None and valid_lens.dim() == 1:
        keep = torch.arange(X.shape[-1], device=X.device)[None, :] < valid_lens[:, None]
        X = X.masked_fill(~keep[:, None, :], float('-inf'))
    return torch.softmax(X, dim=-1)


# %% wrong_zero_times_inf: adds (~keep).float() * -inf (0*-inf = NaN)
# kind: mistake
# breaks: values, gradients
# equals: softmax-zero-times-infinity

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, -1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None]
    keep = torch.arange(X.size(-1), device=X.device) < valid_lens[..., None]
    return torch.softmax(X + (~keep).float() * float('-inf'), -1)


# %% wrong_zeroed_afterwards: softmax first, zero masked afterwards, no renormalisation
# kind: mistake
# breaks: values, gradients
# equals: softmax-masked-too-late

import torch
import torch.nn.functional as F

def masked_softmax(X, valid_lens):
    A = F.softmax(X, -1)
    if valid_lens is None:
        return A
    L = valid_lens if valid_lens.dim() == 2 else valid_lens.unsqueeze(1).repeat(1, X.size(1))
    mask = torch.arange(X.size(2), device=X.device).view(1, 1, -1) < L.unsqueeze(2)
    return A * mask


# %% wrong_zero_times_inf_too: adds mask * -inf, and 0 * -inf is NaN
# kind: mistake
# breaks: gradients, masking, values
# equals: softmax-zero-times-infinity

import torch


def masked_softmax(X: torch.Tensor, valid_lens: torch.Tensor | None) -> torch.Tensor:
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    B, T, S = X.shape
    lens = valid_lens if valid_lens.dim() == 2 else valid_lens[:, None].expand(B, T)
    padding = (torch.arange(S, device=X.device)[None, None, :] >= lens[:, :, None]).to(X.dtype)
    # additive mask: 0 for real keys, minus infinity for padding
    return torch.softmax(X + padding * float("-inf"), dim=-1)


# %% wrong_maximum_of_lengths: (B, T) lengths reduced to one per sequence, their maximum
# kind: mistake
# breaks: gradients, masking, values
# equals: softmax-longest-query-length

import torch


def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(-1)
    # both kinds of lengths get the same form: one number per sequence
    if valid_lens.dim() > 1:
        valid_lens = valid_lens.max(dim=1).values
    key_index = torch.arange(X.size(2), device=X.device)
    hidden = key_index.view(1, 1, -1) >= valid_lens.view(-1, 1, 1)
    return X.masked_fill(hidden, float("-inf")).softmax(-1)


# %% wrong_plain_exp: own softmax with plain exp, overflows for large scores
# kind: mistake
# breaks: values
# equals: softmax-overflows

import torch


def masked_softmax(X, valid_lens):
    expo = torch.exp(X)
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)  # (B, 1, 1) or (B, T, 1)
        keep = torch.arange(X.shape[2], device=X.device) < lens
        expo = expo * keep
    return expo / expo.sum(dim=-1, keepdim=True)


# %% wrong_none: None not handled
# kind: mistake
# breaks: shapes, values
# equals: softmax-none-not-handled

import torch


def masked_softmax(X, valid_lens):
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.unsqueeze(1).repeat(1, X.size(1))
    mask = torch.arange(X.size(2), device=X.device)[None, None] < valid_lens[..., None]
    return torch.softmax(X.masked_fill(~mask, -1e9), dim=2)


# %% wrong_float64_minimum: fill value is the lowest float64, masked_fill refuses it for float32
# kind: mistake
# breaks: shapes, values
# equals: nothing

import sys

import torch


def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens[:, None, None] if valid_lens.dim() == 1 else valid_lens[:, :, None]
        pad = torch.arange(X.size(-1), device=X.device) >= lens
        X = X.masked_fill(pad, -sys.float_info.max)
    return torch.softmax(X, dim=-1)


# %% wrong_axis_and_first_length: two mistakes: softmax over the queries (dim=1), and the length of the first sequence for all
# kind: mistake
# breaks: gradients, masking, values
# equals: softmax-over-queries+softmax-first-sequence-lengths

import torch
from torch import nn


def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        # number of real keys, same for the whole batch
        n = int(valid_lens.reshape(-1)[0])
        X = X.clone()
        X[:, :, n:] = -1e6
    return nn.functional.softmax(X, dim=1)


# %% wrong_lengths_in_the_wrong_order: lengths per sequence are repeated as a whole list, on one row per query
# kind: mistake
# breaks: gradients, masking
# equals: softmax-lens-tiled

import torch


def masked_softmax(X: torch.Tensor, valid_lens: torch.Tensor | None) -> torch.Tensor:
    if valid_lens is not None:
        shape = X.shape
        if valid_lens.dim() == 1:
            # one copy of the lengths for every query
            valid_lens = valid_lens.repeat(shape[1])
        lens = valid_lens.reshape(-1, 1)
        idx = torch.arange(shape[2], device=X.device).reshape(1, -1)
        X = X.reshape(-1, shape[2]).masked_fill(idx >= lens, float("-inf")).reshape(shape)
    return torch.nn.functional.softmax(X, dim=-1)


# %% wrong_padding_score_zero: sequence_mask without a value gives padded scores 0
# kind: mistake
# breaks: gradients, masking, values
# equals: softmax-fills-zero

import torch

from grader.given import sequence_mask


def masked_softmax(X: torch.Tensor, valid_lens: torch.Tensor | None) -> torch.Tensor:
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    B, T, S = X.shape
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.repeat_interleave(T)
    else:
        valid_lens = valid_lens.reshape(-1)
    # flatten to one row per query, mask the rows, and back
    flat = sequence_mask(X.reshape(B * T, S), valid_lens)
    return torch.softmax(flat.reshape(B, T, S), dim=-1)


# %% right_softmax_of_slices: a softmax of the real keys of every query, written into zeros
# kind: same

import torch


def masked_softmax(X: torch.Tensor, valid_lens: torch.Tensor | None) -> torch.Tensor:
    batch, num_queries, num_keys = X.shape
    if valid_lens is None:
        lens = [[num_keys] * num_queries] * batch
    elif valid_lens.dim() == 1:
        lens = [[n] * num_queries for n in valid_lens.tolist()]
    else:
        lens = valid_lens.tolist()
    weights = torch.zeros_like(X)
    for b, row in enumerate(lens):
        for t, n in enumerate(row):
            # the padding never takes part, so no -inf needed
            weights[b, t, :n] = torch.softmax(X[b, t, :n], dim=0)
    return weights


# %% wrong_truth_of_a_tensor: None is tested with `if not valid_lens`
# kind: mistake
# breaks: shapes, values
# equals: softmax-truth-of-lens

import torch


def masked_softmax(X: torch.Tensor, valid_lens: torch.Tensor | None) -> torch.Tensor:
    if not valid_lens:
        # nothing to mask
        return X.softmax(-1)

    if valid_lens.ndim == 1:
        valid_lens = valid_lens[:, None]
    # (B, T or 1, 1) against (S,)
    hide = torch.arange(X.shape[-1], device=X.device) >= valid_lens[:, :, None]
    return X.masked_fill(hide, torch.finfo(X.dtype).min).softmax(-1)


# %% wrong_dim_and_off_by_one: two mistakes: softmax over the queries, and one padded key is kept
# kind: mistake
# breaks: gradients, masking, values
# equals: softmax-over-queries+softmax-one-key-too-many

import torch


def masked_softmax(X, valid_lens):
    # X: (B, T, S)
    if valid_lens is None:
        return torch.softmax(X, dim=1)
    B, T, S = X.shape
    lens = valid_lens
    if lens.dim() == 1:
        lens = lens.unsqueeze(1).expand(B, T)
    key_pos = torch.arange(S, device=X.device).view(1, 1, S)
    mask = key_pos > lens.unsqueeze(-1)
    low = torch.finfo(X.dtype).min
    return torch.softmax(torch.where(mask, torch.full_like(X, low), X), dim=1)
