# %% right_book: reshape, permute, reshape
# kind: same

def transpose_output(X, num_heads):
    """Reverse the operation of `transpose_qkv`."""
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2])
    X = X.permute(0, 2, 1, 3)
    return X.reshape(X.shape[0], X.shape[1], -1)


# %% right_contiguous_view: transpose, contiguous, view
# kind: same

def transpose_output(X, num_heads):
    bh, T, d = X.size()
    b = bh // num_heads
    return X.reshape(b, num_heads, T, d).transpose(1, 2).contiguous().view(b, T, num_heads * d)


# %% right_einsum: reorders the axes with einsum
# kind: same

import torch

def transpose_output(X, num_heads):
    n, T, d = X.shape
    Y = torch.einsum('bhtd->bthd', X.view(n // num_heads, num_heads, T, d))
    return Y.reshape(n // num_heads, T, num_heads * d)


# %% right_loops: copies head by head into an empty tensor
# kind: same

import torch

def transpose_output(X, num_heads):
    rows, T, d = X.shape
    out = torch.empty(rows // num_heads, T, d * num_heads, dtype=X.dtype, device=X.device)
    for r in range(rows):
        b, h = divmod(r, num_heads)
        out[b, :, h * d:(h + 1) * d] = X[r]
    return out


# %% right_strided_rows: concatenates every H-th row along the features
# kind: same

import torch

def transpose_output(X, num_heads):
    return torch.cat([X[h::num_heads] for h in range(num_heads)], dim=-1)


# %% right_unflatten: unflatten, transpose, flatten
# kind: same

import torch

def transpose_output(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    return X.unflatten(0, (-1, num_heads)).transpose(1, 2).flatten(2)


# %% wrong_averaged_and_tiled: averages the heads and tiles instead of concatenating
# kind: mistake
# breaks: values
# equals: heads-averaged-and-repeated

def transpose_output(X, num_heads):
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2])
    return X.mean(dim=1).repeat(1, 1, num_heads)


# %% wrong_concatenated_in_time: puts the heads one after another along the steps
# kind: mistake
# breaks: shapes, values
# equals: heads-joined-in-time

import torch

def transpose_output(X, num_heads):
    B = X.size(0) // num_heads
    out = []
    for b in range(B):
        out.append(torch.cat([X[b * num_heads + h] for h in range(num_heads)], dim=0))
    return torch.stack(out)


# %% wrong_detached: detaches the heads
# kind: mistake
# breaks: gradients
# equals: heads-joined-detached

def transpose_output(X, num_heads):
    n, t, d = X.detach().shape
    X = X.detach().reshape(n // num_heads, num_heads, t, d)
    return X.transpose(1, 2).reshape(n // num_heads, t, num_heads * d)


# %% wrong_first_head_repeated: takes the first head for all of them
# kind: mistake
# breaks: values
# equals: heads-first-repeated

def transpose_output(X, num_heads):
    return X[::num_heads].repeat(1, 1, num_heads)


# %% wrong_forward_transposition_again: calls the forward split a second time
# kind: mistake
# breaks: values
# equals: heads-split-again

def split_heads(X, num_heads):
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1).permute(0, 2, 1, 3)
    return X.reshape(-1, X.shape[2], X.shape[3])

def transpose_output(X, num_heads):
    # do the same thing backwards
    return split_heads(X, num_heads)


# %% wrong_four_axes: stops at (B, T, H, d)
# kind: mistake
# breaks: shapes
# equals: heads-not-joined

def transpose_output(X, num_heads):
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2])
    return X.permute(0, 2, 1, 3)


# %% wrong_head_major_rows: takes the rows for h·B + b
# kind: mistake
# breaks: values
# equals: heads-joined-across-sequences

import torch

def transpose_output(X, num_heads):
    return torch.cat(X.chunk(num_heads, dim=0), dim=-1)


# %% wrong_heads_as_batch: takes num_heads for the batch size
# kind: mistake
# breaks: values
# equals: heads-taken-for-sequences

def transpose_output(X, num_heads):
    X = X.reshape(num_heads, -1, X.shape[1], X.shape[2])
    X = X.permute(0, 2, 1, 3)
    return X.reshape(X.shape[0], X.shape[1], -1)


# %% wrong_heads_reversed: concatenates the heads in reverse order
# kind: different
# breaks: values
# equals: heads-joined-in-reverse

import torch

def transpose_output(X, num_heads):
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2]).flip(1)
    return X.permute(0, 2, 1, 3).flatten(2)


# %% wrong_heads_summed: adds the heads up, which leaves only d features
# kind: mistake
# breaks: shapes, values
# equals: heads-summed

import torch

def transpose_output(X, num_heads):
    """Merge the heads again."""
    B = X.shape[0] // num_heads
    heads = X.view(B, num_heads, X.shape[1], X.shape[2])
    return torch.sum(heads, dim=1)


# %% wrong_interleaved: permute(0,2,3,1): features interleaved across heads
# kind: mistake
# breaks: values
# equals: heads-joined-interleaved

def transpose_output(X, num_heads):
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2])
    X = X.permute(0, 2, 3, 1)
    return X.reshape(X.shape[0], X.shape[1], -1)


# %% wrong_no_permute_back: merges heads without permuting back
# kind: mistake
# breaks: values
# equals: heads-joined-straight

def transpose_output(X, num_heads):
    BH, T, d = X.shape
    return X.reshape(BH // num_heads, T, num_heads * d)


# %% wrong_view_after_permute: view on the permuted tensor without contiguous, raises
# kind: mistake
# breaks: values
# equals: heads-joined-view-refused

def transpose_output(X, num_heads):
    b = X.shape[0] // num_heads
    X = X.view(b, num_heads, X.shape[1], X.shape[2]).transpose(1, 2)
    return X.view(b, X.shape[1], -1)


# %% wrong_mean_of_heads: heads averaged instead of concatenated
# kind: mistake
# breaks: defaults, gradients, shapes, values
# equals: heads-averaged

import torch


def transpose_output(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    BH, T, d = X.shape
    heads = X.reshape(BH // num_heads, num_heads, T, d)
    # combine the results of the heads
    return heads.float().mean(dim=1).to(X.dtype)


# %% wrong_row_b_plus_h: loop reads row b + h instead of b*H + h
# kind: mistake
# breaks: defaults, gradients, values
# equals: heads-joined-from-neighbouring-rows

import torch


def transpose_output(X, num_heads):
    batch = X.size(0) // num_heads
    sequences = []
    for b in range(batch):
        sequences.append(torch.cat([X[b + h] for h in range(num_heads)], dim=-1))
    return torch.stack(sequences)


# %% wrong_squeeze_batch: squeeze(0) at the end drops the batch axis of a single sequence
# kind: mistake
# breaks: defaults
# equals: heads-single-sequence-squeezed

import torch


def transpose_output(X, num_heads):
    """Reverse the operation of transpose_qkv."""
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2])
    X = X.permute(0, 2, 1, 3)
    return X.reshape(X.shape[0], X.shape[1], -1).squeeze(0)


# %% wrong_same_function_again: calls transpose_qkv again, as if it were its own inverse
# kind: mistake
# breaks: shapes
# equals: nothing

import torch

from grader.given import transpose_qkv


def transpose_output(X, num_heads):
    # permute(0, 2, 1, 3) is its own inverse
    return transpose_qkv(X, num_heads)


# %% wrong_interleaved_no_grad: two mistakes: heads interleaved feature by feature, and under torch.no_grad
# kind: mistake
# breaks: defaults, gradients, values
# equals: heads-joined-detached+heads-joined-interleaved

import torch


@torch.no_grad()  # nothing to learn here, only a new order
def transpose_output(X, num_heads):
    X = X.unflatten(0, (-1, num_heads))  # (B, H, T, d)
    X = X.permute(0, 2, 3, 1)
    return X.flatten(2)


# %% wrong_features_interleaved: the head axis goes behind the features
# kind: mistake
# breaks: defaults, gradients, values
# equals: heads-joined-interleaved

import torch


def transpose_output(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    n = X.shape[0] // num_heads
    heads = X.reshape(n, num_heads, *X.shape[1:])
    # (n, H, T, d): the head axis has to go to the end
    heads = heads.movedim(1, -1)
    return heads.flatten(start_dim=2)


# %% wrong_head_first_and_no_permute: two mistakes: rows split as (H, B), and the heads not moved behind the steps
# kind: mistake
# breaks: defaults, gradients, values
# equals: heads-joined-across-sequences+heads-joined-straight

def transpose_output(X, num_heads):
    H = num_heads
    BH, T, d = X.shape
    B = BH // H
    Y = X.reshape(H, B, T, d)
    Y = Y.transpose(0, 1)   # sequences first again
    return Y.reshape(B, T, H * d)


# %% wrong_unflatten_and_reshape: unflatten and reshape, without moving the head axis
# kind: mistake
# breaks: defaults, gradients, values
# equals: heads-joined-straight

import torch


def transpose_output(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    rows, T, d = X.shape
    # first undo the flatten, then put all features of a step together
    split = X.unflatten(0, (rows // num_heads, num_heads))
    return split.reshape(rows // num_heads, T, num_heads * d)


# %% wrong_rows_taken_for_sequences: the number of rows is taken for the number of sequences
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch


def transpose_output(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    B, T, d = X.shape
    X = X.reshape(B, num_heads, T, d)
    X = X.permute(0, 2, 1, 3)
    return X.reshape(B, T, num_heads * d)
