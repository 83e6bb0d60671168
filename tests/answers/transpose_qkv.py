# %% right_book: reshape, permute, reshape
# kind: same

def transpose_qkv(X, num_heads):
    """Transposition for parallel computation of multiple attention heads."""
    # Shape of output X: (batch_size, no. of queries, num_heads, num_hiddens / num_heads)
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1)
    # Shape of output X: (batch_size, num_heads, no. of queries, num_hiddens / num_heads)
    X = X.permute(0, 2, 1, 3)
    return X.reshape(-1, X.shape[2], X.shape[3])


# %% right_einsum: reorders the axes with einsum
# kind: same

import torch

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    Y = torch.einsum('bthd->bhtd', X.reshape(B, T, num_heads, D // num_heads))
    return Y.reshape(B * num_heads, T, D // num_heads)


# %% right_loops: copies sequence by sequence and head by head
# kind: same

import torch

def transpose_qkv(X, num_heads):
    d = X.shape[2] // num_heads
    result = []
    for b in range(X.shape[0]):
        for h in range(num_heads):
            result.append(X[b, :, h * d:(h + 1) * d])
    return torch.stack(result)


# %% right_stack_of_chunks: stacks the chunks of the last axis
# kind: same

import torch

def transpose_qkv(X, num_heads):
    heads = torch.stack(X.chunk(num_heads, dim=-1), dim=1)     # (B, H, T, d)
    return heads.flatten(end_dim=1)


# %% right_unflatten: unflatten, transpose, flatten
# kind: same

import torch

def transpose_qkv(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    return X.unflatten(-1, (num_heads, -1)).transpose(1, 2).flatten(0, 1)


# %% right_view_of_any_input: .view on a possibly non-contiguous input
# kind: same

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    return X.view(B, T, num_heads, D // num_heads).transpose(1, 2).contiguous().view(B * num_heads, T, D // num_heads)


# %% right_written_into_empty: fills an empty tensor at rows b·H + h
# kind: same

import torch

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    d = D // num_heads
    out = X.new_empty(B * num_heads, T, d)
    for h in range(num_heads):
        out[h::num_heads] = X[:, :, h * d:(h + 1) * d]
    return out


# %% wrong_detached: works on X.data, which gets no gradient
# kind: mistake
# breaks: gradients
# equals: heads-detached

def transpose_qkv(X, num_heads):
    X = X.data.reshape(X.shape[0], X.shape[1], num_heads, -1).transpose(1, 2)
    return X.reshape(-1, X.shape[2], X.shape[3])


# %% wrong_features_before_steps: leaves features before steps: (B·H, d, T)
# kind: mistake
# breaks: shapes, values
# equals: heads-lying-on-their-side

def transpose_qkv(X, num_heads):
    b, t, D = X.shape
    X = X.view(b, t, num_heads, D // num_heads).permute(0, 2, 3, 1)
    return X.reshape(b * num_heads, D // num_heads, t)


# %% wrong_features_interleaved: features split as (d, H) instead of (H, d)
# kind: different
# breaks: values
# equals: heads-interleaved

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    X = X.reshape(B, T, -1, num_heads)
    X = X.permute(0, 3, 1, 2)
    return X.reshape(B * num_heads, T, -1)


# %% wrong_first_head_only: gives every head the first block of features
# kind: mistake
# breaks: values
# equals: heads-all-the-first

def transpose_qkv(X, num_heads):
    d = X.shape[-1] // num_heads
    return X[..., :d].repeat_interleave(num_heads, dim=0)


# %% wrong_four_axes: forgets to flatten batch and heads (returns 4-D)
# kind: mistake
# breaks: shapes
# equals: heads-left-on-an-axis

def transpose_qkv(X, num_heads):
    # (B, T, D) -> (B, H, T, d)
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1)
    return X.permute(0, 2, 1, 3)


# %% wrong_head_major_rows: rows in the order h·B + b instead of b·H + h
# kind: different
# breaks: values
# equals: heads-before-sequences

import torch

def transpose_qkv(X, num_heads):
    return torch.cat(torch.chunk(X, num_heads, dim=-1), dim=0)


# %% wrong_heads_reversed: numbers the heads from the last block of features
# kind: different
# breaks: values
# equals: heads-in-reverse

import torch

def transpose_qkv(X, num_heads):
    parts = list(X.chunk(num_heads, dim=2))[::-1]
    return torch.stack(parts, dim=1).flatten(0, 1)


# %% wrong_mixes_batch_and_time: permutes the batch axis instead of the step axis
# kind: mistake
# breaks: values
# equals: heads-batch-and-steps-mixed

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    X = X.reshape(B, T, num_heads, D // num_heads)
    X = X.permute(2, 1, 0, 3)
    return X.reshape(B * num_heads, T, D // num_heads)


# %% wrong_repeats_instead_of_splits: gives every head all the features
# kind: mistake
# breaks: shapes, values
# equals: heads-repeated-not-split

def transpose_qkv(X, num_heads):
    # one copy for each head
    return X.repeat_interleave(num_heads, dim=0)


# %% wrong_splits_time: splits the steps, not the features, among the heads
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    pieces = []
    for b in range(B):
        for h in range(num_heads):
            pieces.append(X[b, h::num_heads])
    n = min(p.shape[0] for p in pieces)
    return torch.stack([p[:n] for p in pieces])


# %% wrong_stale_sizes: reshape uses stale sizes (H and T swapped at the end)
# kind: mistake
# breaks: shapes
# equals: heads-and-steps-exchanged

def transpose_qkv(X, num_heads):
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1)
    T, H, d = X.shape[1], X.shape[2], X.shape[3]
    X = X.permute(0, 2, 1, 3)
    return X.reshape(-1, H, d)


# %% wrong_straight_reshape: reshape straight to (B,H,T,d), no permute
# kind: mistake
# breaks: values
# equals: heads-cut-straight

import torch

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    X = X.reshape(B, num_heads, T, D // num_heads)
    return X.reshape(B * num_heads, T, D // num_heads)


# %% wrong_view_after_permute: view on the permuted tensor without contiguous, raises
# kind: mistake
# breaks: values
# equals: heads-view-refused

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    X = X.view(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3)
    return X.view(B * num_heads, T, D // num_heads)


# %% wrong_strided_features: split (d, H) instead of (H, d), head h takes every H-th feature
# kind: mistake
# breaks: defaults, gradients, values
# equals: heads-interleaved

import torch


def transpose_qkv(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    batch, steps, features = X.shape
    # the last axis is divided among the heads
    X = X.reshape(batch, steps, -1, num_heads)
    X = X.permute(0, 3, 1, 2)  # (B, H, T, d)
    return X.flatten(0, 1)


# %% wrong_time_last: time ends up last, (B*H, d, T), as for transposed keys
# kind: mistake
# breaks: defaults, gradients, shapes, values
# equals: heads-lying-on-their-side

import torch


def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    d = D // num_heads
    X = X.reshape(B, T, num_heads, d)
    return X.permute(0, 2, 3, 1).reshape(B * num_heads, d, T)


# %% wrong_numpy: takes the detour over numpy with detach, gradient cut
# kind: mistake
# breaks: gradients
# equals: heads-detached

import numpy as np
import torch


def transpose_qkv(X, num_heads):
    a = X.detach().cpu().numpy()
    B, T, D = a.shape
    a = a.reshape(B, T, num_heads, D // num_heads)
    a = np.transpose(a, (0, 2, 1, 3))
    a = np.ascontiguousarray(a).reshape(B * num_heads, T, D // num_heads)
    return torch.from_numpy(a)


# %% wrong_float_size: head size by / instead of //, a float in reshape
# kind: mistake
# breaks: shapes
# equals: nothing

import torch


def transpose_qkv(X, num_heads):
    head_dim = X.shape[2] / num_heads
    X = X.reshape(X.shape[0], X.shape[1], num_heads, head_dim)
    X = X.permute(0, 2, 1, 3)
    return X.reshape(-1, X.shape[2], X.shape[3])


# %% wrong_slices_and_float: two mistakes: slice starts at h instead of h*d, and a float32 buffer for the result
# kind: mistake
# breaks: defaults, gradients, values
# equals: heads-overlapping-slices

import torch


def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    d = D // num_heads
    out = torch.zeros(B * num_heads, T, d)
    for b in range(B):
        for h in range(num_heads):
            out[b * num_heads + h] = X[b, :, h : h + d]
    return out


# %% wrong_float_division: the size of a head is computed with /
# kind: mistake
# breaks: shapes
# equals: nothing

def transpose_qkv(X, num_heads):
    B = X.shape[0]
    T = X.shape[1]
    d = X.shape[2] / num_heads
    out = X.reshape(B, T, num_heads, d).permute(0, 2, 1, 3)
    return out.reshape(B * num_heads, T, d)


# %% wrong_chunks_along_batch: chunks of features, joined along the batch
# kind: different
# breaks: defaults, gradients, values
# equals: heads-before-sequences

import torch


def transpose_qkv(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    # much shorter than reshape + permute :)
    return torch.cat(X.chunk(num_heads, dim=-1), dim=0)


# %% wrong_reshape_alone: reshaped to (B, H, T, d) without moving an axis
# kind: mistake
# breaks: defaults, gradients, values
# equals: heads-cut-straight

import torch


def transpose_qkv(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    B, T, D = X.shape
    heads = X.reshape(B, num_heads, T, D // num_heads)  # heads get their own axis in front of the steps
    return heads.flatten(0, 1)


# %% right_unfold_windows: unfold cuts the features into windows
# kind: same

import torch


def transpose_qkv(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    d = X.size(-1) // num_heads
    windows = X.unfold(2, d, d)  # (B, T, H, d), windows that do not overlap
    return windows.swapaxes(1, 2).flatten(0, 1)


# %% wrong_view_after_transpose: view on a transposed tensor
# kind: mistake
# breaks: shapes, values
# equals: heads-view-refused

import torch


def transpose_qkv(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    batch_size, steps, features = X.size()
    d_head = features // num_heads
    X = X.view(batch_size, steps, num_heads, d_head)
    X = X.transpose(1, 2)
    return X.view(batch_size * num_heads, steps, d_head)
