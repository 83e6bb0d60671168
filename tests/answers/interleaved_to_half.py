# %% right_axes: three axes, two of them exchanged
# kind: same

import torch


def interleaved_to_half(weight, num_heads):
    rows, n = weight.shape
    return weight.view(num_heads, rows // num_heads // 2, 2, n).transpose(1, 2).reshape(rows, n)


# %% right_list_of_rows: a list of row numbers
# kind: same

import torch


def interleaved_to_half(weight, num_heads):
    d = len(weight) // num_heads
    rows = [h * d + 2 * i + member for h in range(num_heads) for member in (0, 1) for i in range(d // 2)]
    return weight[rows]


# %% right_permutation_matrix: a product with a permutation matrix
# kind: same

import torch


def interleaved_to_half(weight, num_heads):
    d = weight.shape[0] // num_heads
    eye = torch.eye(d, dtype=weight.dtype, device=weight.device)
    P = torch.cat([eye[0::2], eye[1::2]])
    return torch.kron(torch.eye(num_heads, dtype=weight.dtype, device=weight.device), P) @ weight


# %% right_chunks: head by head with chunk and cat
# kind: same

import torch


def interleaved_to_half(weight, num_heads):
    return torch.cat([part for head in weight.chunk(num_heads) for part in (head[::2], head[1::2])])


# %% wrong_inverse: the permutation from halves to neighbours
# kind: mistake
# breaks: defaults, values
# equals: perm-inverse

import torch


def interleaved_to_half(weight, num_heads):
    d = weight.shape[0] // num_heads
    return weight.reshape(num_heads, 2, d // 2, -1).transpose(1, 2).reshape(weight.shape)


# %% wrong_across_heads: all even rows of the matrix, then all odd ones
# kind: mistake
# breaks: values
# equals: perm-over-all-heads

import torch


def interleaved_to_half(weight, num_heads):
    return torch.cat([weight[0::2], weight[1::2]], dim=0)


# %% wrong_columns: permutes the columns
# kind: mistake
# breaks: shapes, defaults

import torch


def interleaved_to_half(weight, num_heads):
    cols = weight.shape[1]
    w = weight.view(weight.shape[0], num_heads, cols // num_heads // 2, 2)
    return w.transpose(-1, -2).reshape(weight.shape)


# %% wrong_second_first: the second members come first
# kind: mistake
# breaks: defaults, values
# equals: perm-second-first

import torch


def interleaved_to_half(weight, num_heads):
    heads = weight.unflatten(0, (num_heads, -1))
    return torch.cat([heads[:, 1::2], heads[:, 0::2]], dim=1).flatten(0, 1)


# %% wrong_in_place: the right rows, but written into the weight
# kind: mistake
# breaks: defaults, purity
# equals: perm-in-place

import torch


@torch.no_grad()
def interleaved_to_half(weight, num_heads):
    d = weight.shape[0] // num_heads
    for h in range(num_heads):
        block = weight[h * d : (h + 1) * d].clone()
        weight[h * d : h * d + d // 2] = block[0::2]
        weight[h * d + d // 2 : (h + 1) * d] = block[1::2]
    return weight


# %% wrong_heads_inside: reads the heads as the inner axis of the rows
# kind: mistake
# breaks: values
# equals: perm-heads-innermost

import torch


def interleaved_to_half(weight, num_heads):
    d = weight.shape[0] // num_heads
    w = weight.view(d // 2, 2, num_heads, -1)
    return w.permute(2, 1, 0, 3).reshape(weight.shape)


# %% wrong_heads_for_size: takes num_heads for the size of a head
# kind: mistake
# breaks: defaults, values
# equals: perm-heads-for-size

import torch


def interleaved_to_half(weight, num_heads):
    d = num_heads
    out = []
    for start in range(0, weight.shape[0], d):
        block = weight[start : start + d]
        out += [block[0::2], block[1::2]]
    return torch.cat(out)
