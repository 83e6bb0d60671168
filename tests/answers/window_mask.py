# %% right_python_loops: asks every pair in Python
# kind: same

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    def sees(q, k):
        if k == -1 or k > q:
            return False
        return window is None or k > q - window or k < sinks

    rows = [[sees(q, k) for k in k_positions.tolist()] for q in q_positions.tolist()]
    shape = (len(q_positions), len(k_positions))
    return torch.tensor(rows, dtype=torch.bool, device=q_positions.device).reshape(shape)


# %% right_what_is_hidden: collects what is hidden and negates
# kind: same

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    k = k_positions.unsqueeze(0)
    q = q_positions.unsqueeze(1)
    hidden = k.lt(0) | k.gt(q)
    if window is not None:
        hidden |= (q - k).ge(window) & k.ge(sinks)
    return hidden.logical_not()


# %% right_smallest_distance: a sink counts as distance zero
# kind: same

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    q, k = torch.meshgrid(q_positions.long(), k_positions.long(), indexing="ij")
    far = q - k
    limit = torch.iinfo(torch.long).max if window is None else window
    shown = torch.where(k < sinks, far.clamp(max=0), far) < limit
    return shown & (far >= 0) & (k > -1)


# %% right_outer_difference: a lower bound for each query
# kind: same

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    q = q_positions[:, None]
    oldest = torch.zeros_like(q) if window is None else (q - window + 1).clamp(min=0)
    causal = (k_positions >= 0) & (k_positions <= q)
    return causal * ((k_positions >= oldest) + (k_positions < sinks))


# %% wrong_less_equal: the window has w + 1 keys
# kind: mistake
# breaks: values
# equals: win-one-more

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    gap = q_positions[:, None] - k_positions[None]
    mask = gap >= 0
    if window is not None:
        mask = mask & ((gap <= window) | (k_positions < sinks))
    return mask & (k_positions != -1)


# %% wrong_w_minus_one: the window has w - 1 keys, but the own one always counts
# kind: mistake
# breaks: values
# equals: win-one-less

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    gap = q_positions[:, None] - k_positions[None]
    near = torch.ones_like(gap, dtype=torch.bool)
    if window is not None:
        near = (gap < window - 1) | (gap == 0)
    return (gap >= 0) & (near | (k_positions < sinks)) & (k_positions >= 0)


# %% wrong_w_others: w keys besides the own one, which is hidden
# kind: different
# breaks: values
# equals: win-before-itself

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    gap = q_positions.view(-1, 1) - k_positions.view(1, -1)
    keep = gap > 0
    if window is not None:
        keep &= (gap <= window) | (k_positions < sinks)
    return keep & (k_positions >= 0)


# %% wrong_true_is_hidden: True = may not attend
# kind: different
# breaks: values
# equals: win-true-hides

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    q, k = q_positions[:, None], k_positions[None, :]
    hidden = (k > q) | (k < 0)
    if window is not None:
        hidden = hidden | ((k <= q - window) & (k >= sinks))
    return hidden


# %% wrong_tril_of_places: torch.tril and triu of the places
# kind: mistake
# breaks: values
# equals: win-places

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    T, S = len(q_positions), len(k_positions)
    ones = torch.ones(T, S, dtype=torch.bool, device=q_positions.device)
    mask = ones.tril(S - T)
    if window is not None:
        recent = ones.triu(S - T - window + 1)
        recent[:, :sinks] = True
        mask = mask & recent
    return mask & (k_positions >= 0)


# %% wrong_sinks_for_all: sinks are visible to queries before them
# kind: mistake
# breaks: values
# equals: win-sinks-always

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    gap = q_positions[:, None] - k_positions
    seen = gap >= 0
    if window is not None:
        seen = seen & (gap < window)
    first = (k_positions >= 0) & (k_positions < sinks)
    return (seen | first) & (k_positions >= 0)


# %% wrong_empty_is_sink: -1 is smaller than sinks
# kind: mistake
# breaks: values
# equals: win-empty-is-sink

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    q, k = q_positions[:, None], k_positions[None, :]
    if window is None:
        return (k <= q) & (k >= 0)
    inside = (k > q - window) & (k >= 0)
    return (k <= q) & (inside | (k < sinks))


# %% wrong_never_empty: does not know of empty places
# kind: mistake
# breaks: values
# equals: win-empty-visible

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    distance = torch.sub(q_positions[:, None], k_positions[None, :])
    mask = distance >= 0
    if window is not None:
        mask = mask & ((distance < window) | (k_positions < sinks)[None, :])
    return mask


# %% wrong_first_columns: the first columns are taken for the sinks
# kind: mistake
# breaks: values
# equals: win-sinks-by-place

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    q, k = q_positions[:, None], k_positions[None, :]
    causal = (k >= 0) & (k <= q)
    if window is None:
        return causal
    near = q - k < window
    near[:, :sinks] = True
    return causal & near


# %% wrong_both_sides: a window to both sides
# kind: mistake
# breaks: values
# equals: win-both-sides

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    q, k = q_positions[:, None], k_positions[None, :]
    real = k >= 0
    if window is None:
        return (k <= q) & real
    return (((q - k).abs() < window) | ((k < sinks) & (k <= q))) & real


# %% wrong_sinks_inside: the sinks use up places of the window
# kind: mistake
# breaks: values
# equals: win-sinks-inside-window

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    gap = q_positions[:, None] - k_positions[None, :]
    ok = (gap >= 0) & (k_positions >= 0)
    if window is not None:
        ok = ok & ((gap < max(window - sinks, 1)) | (k_positions < sinks))
    return ok


# %% wrong_one_sink_more: positions up to sinks count as sinks
# kind: mistake
# breaks: values
# equals: win-one-sink-more

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    q, k = q_positions[:, None], k_positions[None, :]
    past = (k <= q) & (k >= 0)
    if window is None:
        return past
    return past & ((q - k < window) | (k <= sinks))


# %% wrong_sinks_and_window: one more key in the window, and no empty places
# kind: mistake
# breaks: values
# equals: win-empty-visible+win-one-more

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    gap = q_positions[:, None] - k_positions
    if window is None:
        return gap >= 0
    return (gap >= 0) & ((gap <= window) | (k_positions < sinks))


# %% wrong_keys_first: one row for each key
# kind: mistake
# breaks: shapes, values
# equals: win-transposed

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    k, q = k_positions[:, None], q_positions[None, :]
    mask = (k >= 0) & (k <= q)
    if window is not None:
        mask = mask & ((q - k < window) | (k < sinks))
    return mask


# %% wrong_lower_right: a triangle of places, aligned at the lower right corner
# kind: mistake
# breaks: values
# equals: win-places

import torch


def window_mask(q_positions, k_positions, window=None, sinks=0):
    T, S = len(q_positions), len(k_positions)
    every = torch.ones(T, S, dtype=torch.bool, device=k_positions.device)
    mask = every.tril(S - T)
    if window is None:
        return mask
    first = torch.arange(S, device=k_positions.device) < sinks
    return mask & (every.triu(S - T - window + 1) | first)
