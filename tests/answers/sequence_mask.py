# %% right_book_in_place: the book's version, writes into X
# kind: same

import torch

def sequence_mask(X, valid_len, value=0):
    """Mask irrelevant entries in sequences."""
    maxlen = X.size(1)
    mask = torch.arange((maxlen), dtype=torch.float32,
                        device=X.device)[None, :] < valid_len[:, None]
    X[~mask] = value
    return X


# %% right_concatenated_rows: glues each valid part to a block of the filling value
# kind: same

import torch

def sequence_mask(X, valid_len, value=0):
    rows = []
    for x, n in zip(X, valid_len.tolist()):
        rows.append(torch.cat([x[:n], torch.full_like(x[n:], value)]))
    return torch.stack(rows)


# %% right_cumsum_counter: counts the steps with a cumulative sum
# kind: same

import torch

def sequence_mask(X, valid_len, value=0):
    ones = torch.ones(X.shape[:2], dtype=torch.long, device=X.device)
    beyond = ones.cumsum(dim=1) > valid_len.reshape(-1, 1)
    result = X.clone()
    result[beyond] = value
    return result


# %% right_device_of_steps_forgotten: counts the steps on the CPU whatever X's device
# kind: policy
# later: device

import torch

def sequence_mask(X, valid_len, value=0):
    mask = torch.arange(X.size(1))[None, :] < valid_len[:, None]
    X[~mask] = value
    return X


# %% right_loop_over_rows: cuts and fills row by row
# kind: same

import torch

def sequence_mask(X, valid_len, value=0):
    Y = X.clone()
    for i in range(len(valid_len)):
        Y[i, int(valid_len[i]):] = value
    return Y


# %% right_masked_fill_any_axes: masked_fill with as many trailing axes as X has
# kind: same

import torch

def sequence_mask(X, valid_len, value=0):
    n, t = X.shape[:2]
    pad = torch.arange(t, device=X.device).view(1, t) >= valid_len.view(n, 1)
    return X.masked_fill(pad.view(n, t, *[1] * (X.ndim - 2)), value)


# %% right_multiply_and_add: X times the mask plus value times its complement
# kind: same

import torch

def sequence_mask(X, valid_len, value=0):
    m = (torch.arange(X.size(1), device=X.device)[None] < valid_len[:, None]).to(X.dtype)
    m = m.reshape(list(m.shape) + [1] * (X.dim() - 2))
    return m * X + (1 - m) * value


# %% right_where: torch.where between X and the filling value
# kind: same

import torch

def sequence_mask(X: torch.Tensor, valid_len: torch.Tensor, value: float = 0) -> torch.Tensor:
    steps = torch.arange(X.shape[1], device=X.device)
    keep = steps < valid_len[..., None]
    for _ in range(X.dim() - keep.dim()):
        keep = keep.unsqueeze(-1)
    return torch.where(keep, X, torch.full_like(X, value))


# %% wrong_adds_value_everywhere: zeroes the padding and then adds value to everything
# kind: mistake
# breaks: values
# equals: mask-adds-the-value

import torch

def sequence_mask(X, valid_len, value=0):
    mask = (torch.arange(X.size(1), device=X.device) < valid_len[:, None]).to(X.dtype)
    mask = mask[(...,) + (None,) * (X.dim() - 2)]
    return X * mask + value


# %% wrong_detached_copy: works on a detached copy, so X gets no gradient
# kind: mistake
# breaks: gradients
# equals: mask-detached

import torch

def sequence_mask(X, valid_len, value=0):
    Y = X.detach().clone()   # leave X alone
    for row, n in zip(Y, valid_len):
        row[int(n):] = value
    return Y


# %% wrong_first_length_for_all: uses the first length for every row
# kind: mistake
# breaks: values
# equals: mask-first-length-for-all

import torch

def sequence_mask(X, valid_len, value=0):
    n = int(valid_len[0])
    X = X.clone()
    X[:, n:] = value
    return X


# %% wrong_inverted: blanks the valid steps and keeps the padding
# kind: mistake
# breaks: values
# equals: mask-keeps-the-padding

import torch

def sequence_mask(X, valid_len, value=0):
    mask = torch.arange(X.size(1), device=X.device)[None, :] < valid_len[:, None]
    X = X.clone()
    X[mask] = value
    return X


# %% wrong_keeps_the_end: keeps the last steps instead of the first
# kind: mistake
# breaks: values
# equals: mask-keeps-the-end

import torch

def sequence_mask(X, valid_len, value=0):
    T = X.size(1)
    pos = torch.arange(T, device=X.device).unsqueeze(0)
    pad = pos < (T - valid_len).unsqueeze(1)
    out = X.clone()
    out[pad] = value
    return out


# %% wrong_last_axis: counts along the last axis instead of the step axis
# kind: mistake
# breaks: values
# equals: mask-hides-features

import torch

def sequence_mask(X, valid_len, value=0):
    idx = torch.arange(X.shape[-1], device=X.device)
    shape = [-1] + [1] * (X.dim() - 1)
    return X.masked_fill(idx >= valid_len.reshape(shape), value)


# %% wrong_lengths_changed_in_place: reshapes the caller's lengths in place
# kind: mistake
# breaks: purity
# equals: mask-changes-the-lengths

import torch

def sequence_mask(X, valid_len, value=0):
    valid_len.unsqueeze_(1)
    mask = torch.arange(X.size(1), device=X.device) < valid_len
    X[~mask] = value
    return X


# %% wrong_masks_rows_not_steps: compares the row number, not the step number, with the length
# kind: mistake
# breaks: values
# equals: mask-compares-row-numbers

import torch

def sequence_mask(X, valid_len, value=0):
    N, T = X.shape[0], X.shape[1]
    rows = torch.arange(N, device=X.device)[:, None].expand(N, T)
    mask = rows < valid_len[:, None]
    out = X.clone()
    out[~mask] = value
    return out


# %% wrong_multiplies_by_value: multiplies the padding by value instead of replacing it
# kind: mistake
# breaks: values
# equals: mask-multiplies-the-padding

import torch

def sequence_mask(X, valid_len, value=0):
    mask = torch.arange(X.size(1), device=X.device)[None, :] < valid_len[:, None]
    X[~mask] *= value
    return X


# %% wrong_one_position_only: blanks only the first padded step
# kind: mistake
# breaks: values
# equals: mask-only-one-padded-step

import torch

def sequence_mask(X, valid_len, value=0):
    X = X.clone()
    for i in range(X.shape[0]):
        if valid_len[i] < X.shape[1]:
            X[i, valid_len[i]] = value
    return X


# %% wrong_one_step_too_few: keeps one step too few
# kind: mistake
# breaks: values
# equals: mask-last-real-step-lost

import torch

def sequence_mask(X, valid_len, value=0):
    X = X.clone()
    for i, n in enumerate(valid_len.tolist()):
        X[i, n - 1:] = value
    return X


# %% wrong_one_step_too_many: off by one: cols <= len
# kind: mistake
# breaks: values
# equals: mask-length-counts-one-more

import torch

def sequence_mask(X, valid_len, value=0):
    maxlen = X.size(1)
    mask = torch.arange(maxlen, dtype=torch.float32, device=X.device)[None, :] <= valid_len[:, None]
    X[~mask] = value
    return X


# %% wrong_only_last_row: returns from inside the loop, so only the first row is masked
# kind: mistake
# breaks: values
# equals: nothing

import torch

def sequence_mask(X, valid_len, value=0):
    X = X.clone()
    for i, n in enumerate(valid_len):
        X[i, n:] = value
        return X


# %% wrong_only_two_axes: written for two axes, does not take a third one
# kind: mistake
# breaks: values
# equals: mask-two-axes-only

import torch

def sequence_mask(X, valid_len, value=0):
    N, T = X.shape
    mask = torch.arange(T, device=X.device).expand(N, T) < valid_len.view(N, 1)
    return torch.where(mask, X, torch.full_like(X, value))


# %% wrong_result_thrown_away: out-of-place masked_fill, result thrown away
# kind: mistake
# breaks: values
# equals: mask-result-thrown-away

import torch

def sequence_mask(X, valid_len, value=0):
    mask = torch.arange(X.size(1), device=X.device)[None, :] >= valid_len[:, None]
    mask = mask.reshape(mask.shape + (1,) * (X.dim() - 2))
    X.masked_fill(mask, value)
    return X


# %% wrong_returns_pair: returns the tensor together with the mask
# kind: mistake
# breaks: shapes
# equals: mask-also-returned

import torch

def sequence_mask(X, valid_len, value=0):
    mask = torch.arange(X.size(1), device=X.device)[None, :] < valid_len[:, None]
    out = X.clone()
    out[~mask] = value
    return out, mask


# %% wrong_returns_the_mask: returns the mask instead of the masked tensor
# kind: mistake
# breaks: values
# equals: mask-itself-returned

import torch

def sequence_mask(X, valid_len, value=0):
    maxlen = X.size(1)
    mask = torch.arange(maxlen, device=X.device)[None, :] < valid_len[:, None]
    X[~mask] = value
    return mask


# %% wrong_value_ignored: always fills with 0, whatever value says
# kind: mistake
# breaks: values
# equals: mask-value-ignored

import torch

def sequence_mask(X, valid_len, value=0):
    """Keep the first valid_len steps of each row."""
    steps = torch.arange(X.shape[1], device=X.device)
    keep = steps.unsqueeze(0) < valid_len.unsqueeze(1)
    while keep.dim() < X.dim():
        keep = keep.unsqueeze(-1)
    return X * keep


# %% wrong_value_ignored_too: multiplies with the mask, so value is ignored
# kind: mistake
# breaks: values
# equals: mask-value-ignored

import torch


def sequence_mask(X, valid_len, value=0):
    steps = torch.arange(X.shape[1], device=X.device)
    keep = steps.unsqueeze(0) < valid_len.unsqueeze(1)  # (N, T)
    while keep.dim() < X.dim():
        keep = keep.unsqueeze(-1)
    return X * keep


# %% wrong_slice_to_minus_one: loop fills X[i, l:-1], so the last step is never replaced
# kind: mistake
# breaks: gradients, values
# equals: mask-last-step-never

import torch


def sequence_mask(X, valid_len, value=0):
    out = X.clone()
    for i, l in enumerate(valid_len):
        # from the length to the end of the row
        out[i, l:-1] = value
    return out


# %% wrong_mask_two_axes: mask (N, T) not extended to the axes of features
# kind: mistake
# breaks: shapes
# equals: mask-two-axes-only

import torch


def sequence_mask(X, valid_len, value=0):
    num_steps = X.size(1)
    mask = torch.arange(num_steps, device=X.device) < valid_len[:, None]
    fill = torch.tensor(value, dtype=X.dtype, device=X.device)
    return torch.where(mask, X, fill)


# %% wrong_upside_down_float: two mistakes: mask upside down, and the result converted to float
# kind: mistake
# breaks: gradients, values
# equals: mask-keeps-the-padding

import torch


def sequence_mask(X, valid_len, value=0):
    X = X.float()
    # True where the step is real
    mask = torch.arange(X.size(1), device=X.device).unsqueeze(0) < valid_len.unsqueeze(1)
    X[mask] = value
    return X


# %% wrong_always_three_axes: the mask always gets one feature axis
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch


def sequence_mask(X, valid_len, value=0):
    n_steps = X.size(1)
    keep = torch.arange(n_steps, device=X.device).unsqueeze(0) < valid_len.to(X.device).unsqueeze(1)
    # further axis of size 1 at the end, as the lesson says
    keep = keep.unsqueeze(-1)
    return X.masked_fill(~keep, value)


# %% wrong_last_axis_in_loop: a loop cuts the last axis, in place on the rows of an iteration, which autograd refuses
# kind: mistake
# breaks: shapes
# equals: mask-hides-features

import torch


def sequence_mask(X: torch.Tensor, valid_len: torch.Tensor, value: float = 0) -> torch.Tensor:
    result = X.clone()
    for row, length in zip(result, valid_len.tolist()):
        # row is a view so this changes result
        row[..., length:] = value
    return result


# %% wrong_mask_as_float: X times a float mask, plus value times the rest
# kind: mistake
# breaks: values
# equals: mask-blended

import torch


def sequence_mask(X: torch.Tensor, valid_len: torch.Tensor, value: float = 0) -> torch.Tensor:
    N, T = X.shape[0], X.shape[1]
    positions = torch.arange(T, device=X.device).expand(N, T)
    m = (positions < valid_len.reshape(N, 1)).float()
    m = m.reshape(N, T, *[1] * (X.dim() - 2))
    return X * m + value * (1 - m)


# %% wrong_length_kept_too: indexed in place where the position is larger than the length
# kind: mistake
# breaks: gradients, values
# equals: mask-length-counts-one-more

import torch


def sequence_mask(X: torch.Tensor, valid_len: torch.Tensor, value: float = 0) -> torch.Tensor:
    steps = torch.arange(X.shape[1], device=X.device)
    padding = steps[None, :] > valid_len[:, None]  # everything after the length
    X[padding] = value  # works for feature axes too, the index covers the first two axes
    return X
