# %% right_kronecker: a 0/1 matrix that sends each key head to its query heads
# kind: same

import torch


def repeat_kv(x: torch.Tensor, n_rep: int) -> torch.Tensor:
    heads = x.shape[1]
    plan = torch.eye(heads, dtype=x.dtype, device=x.device)
    plan = torch.kron(plan, torch.ones(n_rep, 1, dtype=x.dtype, device=x.device))
    return torch.einsum("gh,bhsd->bgsd", plan, x)


# %% right_group_table: looks up h // n_rep
# kind: same

import torch


def repeat_kv(x, n_rep):
    query_heads = torch.arange(x.size(1) * n_rep, device=x.device)
    return x.index_select(1, query_heads.div(n_rep, rounding_mode="floor"))


# %% right_list_of_heads: a list comprehension over the heads
# kind: same

import torch


def repeat_kv(x, n_rep):
    return torch.stack([head for head in x.unbind(dim=1) for _ in range(n_rep)], dim=1)


# %% right_wide_rows: repeats the flattened head and cuts it up again
# kind: same

import torch


def repeat_kv(x, n_rep):
    b, h, s, d = x.shape
    return x.reshape(b, h, s * d).repeat(1, 1, n_rep).view(b, h * n_rep, s, d)


# %% right_written_copy: fills an empty tensor with strided assignments
# kind: same

import torch


def repeat_kv(x, n_rep):
    if n_rep == 1:
        return x
    b, h, s, d = x.shape
    out = x.new_zeros(b, h * n_rep, s, d)
    for j in range(n_rep):
        out[:, j::n_rep] = x
    return out


# %% wrong_tensor_repeat: x.repeat along the heads
# kind: mistake
# breaks: gradients, values
# equals: rep-tiled

import torch


def repeat_kv(x, n_rep):
    return x.repeat(1, n_rep, 1, 1)


# %% wrong_modulo_table: looks up h % H_kv
# kind: mistake
# breaks: gradients, values
# equals: rep-tiled

import torch


def repeat_kv(x, n_rep):
    h = x.shape[1]
    return x[:, [i % h for i in range(h * n_rep)]]


# %% wrong_axis_after_steps: the new axis stands behind the steps
# kind: mistake
# breaks: gradients, values
# equals: rep-steps

import torch


def repeat_kv(x, n_rep):
    b, h, s, d = x.shape
    x = x[:, :, :, None, :].expand(b, h, s, n_rep, d)
    return x.reshape(b, h * n_rep, s, d)


# %% wrong_interleaves_steps: repeat_interleave over axis 2
# kind: mistake
# breaks: gradients, shapes, values
# equals: rep-steps-longer

import torch


def repeat_kv(x, n_rep):
    return torch.repeat_interleave(x, n_rep, dim=2)


# %% wrong_llama_layout: heads on axis 2 as in Llama
# kind: different
# breaks: gradients, shapes, values
# equals: rep-steps-longer

import torch


def repeat_kv(x, n_rep):
    bs, slen, n_kv_heads, head_dim = x.shape
    if n_rep == 1:
        return x
    return (
        x[:, :, :, None, :]
        .expand(bs, slen, n_kv_heads, n_rep, head_dim)
        .reshape(bs, slen, n_kv_heads * n_rep, head_dim)
    )


# %% wrong_no_dim: repeat_interleave without dim, viewed back
# kind: mistake
# breaks: gradients, values
# equals: rep-features

import torch


def repeat_kv(x, n_rep):
    b, h, s, d = x.shape
    return torch.repeat_interleave(x, n_rep).view(b, h * n_rep, s, d)


# %% wrong_repeat_added: repeats n_rep more times
# kind: mistake
# breaks: defaults, gradients, shapes, values
# equals: rep-once-too-often

import torch


def repeat_kv(x, n_rep):
    copies = [x] + [x] * n_rep
    return torch.stack(copies, dim=2).flatten(1, 2)


# %% wrong_frozen_copies: copies made under no_grad
# kind: mistake
# breaks: defaults, gradients
# equals: rep-detached

import torch


@torch.no_grad()
def repeat_kv(x, n_rep):
    return x.repeat_interleave(n_rep, dim=1)


# %% wrong_group_axis_kept: the axis of the group is not merged
# kind: mistake
# breaks: defaults, gradients, shapes, values
# equals: rep-group-axis-kept

import torch


def repeat_kv(x, n_rep):
    return x.unsqueeze(2).expand(-1, -1, n_rep, -1, -1)


# %% wrong_axis_from_the_end: repeat_interleave over axis -2
# kind: mistake
# breaks: gradients, shapes, values
# equals: rep-steps-longer


def repeat_kv(x, n_rep):
    return x.repeat_interleave(n_rep, dim=-2)
