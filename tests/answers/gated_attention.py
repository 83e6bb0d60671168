# %% right_einsum: einsum over heads, gate and output at once
# kind: same

import torch
from grader.given import transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    lens = None if valid_lens is None else valid_lens.repeat_interleave(H, 0)
    Y = mha.attention(*(transpose_qkv(layer(X), H) for layer, X in
                        ((mha.W_q, queries), (mha.W_k, keys), (mha.W_v, values))), lens)
    Y = Y.reshape(-1, H, *Y.shape[1:])  # (B, H, T, d)
    W = mha.W_o.weight.reshape(mha.W_o.out_features, H, -1)  # (D, H, d)
    out = torch.einsum("bhtd,h,ehd->bte", Y, gates, W)
    return out if mha.W_o.bias is None else out + mha.W_o.bias


# %% right_functional_call_w_o: called with a W_o whose columns are scaled
# kind: same

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    W = mha.W_o.weight
    columns = gates.repeat_interleave(W.shape[1] // mha.num_heads)
    scaled = {"W_o.weight": W * columns}
    return torch.func.functional_call(mha, scaled, (queries, keys, values, valid_lens))


# %% right_functional_call_w_v: called with a W_v whose rows are scaled: attention is linear in its values
# kind: same

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    D = mha.W_v.weight.shape[0]
    rows = gates.unsqueeze(1).expand(-1, D // mha.num_heads).reshape(-1)  # (D,)
    swapped = {"W_v.weight": rows[:, None] * mha.W_v.weight}
    if mha.W_v.bias is not None:
        swapped["W_v.bias"] = rows * mha.W_v.bias
    return torch.func.functional_call(mha, swapped, (queries, keys, values, valid_lens))


# %% right_gates_on_rows_of_batch: gates repeated over the batch, on (B*H, T, d)
# kind: same

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    xi = gates.repeat(queries.shape[0])[:, None, None]  # (B*H, 1, 1)
    return mha.W_o(transpose_output(xi * heads, H))


# %% right_loop_over_heads: one head after another, each through its columns of W_o
# kind: same

def gated_attention(mha, gates, queries, keys, values, valid_lens):
    Q, K, V = mha.W_q(queries), mha.W_k(keys), mha.W_v(values)
    d = Q.shape[-1] // mha.num_heads
    output = 0
    for h in range(mha.num_heads):
        mine = slice(h * d, (h + 1) * d)
        Y = mha.attention(Q[..., mine], K[..., mine], V[..., mine], valid_lens)  # (B, T, d)
        output = output + gates[h] * (Y @ mha.W_o.weight[:, mine].T)
    if mha.W_o.bias is not None:
        output = output + mha.W_o.bias
    return output


# %% right_own_softmax: scores, mask and softmax written out with four axes
# kind: same

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    B, T, _ = queries.shape
    S, H = keys.shape[1], mha.num_heads

    def split(X):
        return X.reshape(B, -1, H, X.shape[-1] // H).permute(0, 2, 1, 3)  # (B, H, ., d)

    q, k, v = split(mha.W_q(queries)), split(mha.W_k(keys)), split(mha.W_v(values))
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5  # (B, H, T, S)
    if valid_lens is not None:
        lens = valid_lens.view(B, 1, -1, 1)
        hidden = torch.arange(S, device=keys.device) >= lens
        scores = scores.masked_fill(hidden, float("-inf"))
    weights = scores.softmax(-1)
    Y = mha.attention.dropout(weights) @ v  # (B, H, T, d)
    Y = Y * gates.view(1, H, 1, 1)
    return mha.W_o(Y.transpose(1, 2).reshape(B, T, -1))


# %% right_pre_hook_removed: a forward pre-hook on W_o, taken away again
# kind: same

def gated_attention(mha, gates, queries, keys, values, valid_lens):
    def scale(module, args):
        joined = args[0]
        parts = joined.unflatten(-1, (len(gates), -1)) * gates[:, None]
        return (parts.flatten(-2),)

    handle = mha.W_o.register_forward_pre_hook(scale)
    try:
        return mha(queries, keys, values, valid_lens)
    finally:
        handle.remove()


# %% right_through_the_parts: the module's own forward, with the gates before W_o
# kind: same

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat_interleave(d))


# %% right_w_o_replaced_for_a_while: W_o wrapped during the call and put back
# kind: same

import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, gates, layer):
        super().__init__()
        self.gates, self.layer = gates, layer

    def forward(self, X):
        d = X.shape[-1] // self.gates.numel()
        return self.layer(torch.cat([g * part for g, part in zip(self.gates, X.split(d, -1))], -1))


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    whole = mha.W_o
    mha.W_o = Gate(gates, whole)
    try:
        return mha(queries, keys, values, valid_lens)
    finally:
        mha.W_o = whole


# %% wrong_after_w_o: gates after the output layer
# kind: mistake
# breaks: values
# equals: gates-after-the-output-layer

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined) * gates.repeat_interleave(d)


# %% wrong_always_evaluation: switches the module to evaluation mode
# kind: mistake
# breaks: modes, purity
# equals: gates-dropout-switched-off

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    mha.eval()
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat_interleave(d))


# %% wrong_bias_once_a_head: the whole output layer, bias included, for every head
# kind: mistake
# breaks: values
# equals: nothing

from torch.nn import functional as F


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    Q, K, V = mha.W_q(queries), mha.W_k(keys), mha.W_v(values)
    d = Q.shape[-1] // mha.num_heads
    output = 0
    for h in range(mha.num_heads):
        mine = slice(h * d, (h + 1) * d)
        Y = mha.attention(Q[..., mine], K[..., mine], V[..., mine], valid_lens)  # (B, T, d)
        output = output + gates[h] * F.linear(Y, mha.W_o.weight[:, mine], mha.W_o.bias)
    return output


# %% wrong_gated_twice: gates on the heads and once more before W_o
# kind: mistake
# breaks: values
# equals: nothing

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v, valid_lens) * gates.repeat(len(queries))[:, None, None]
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat_interleave(d))


# %% wrong_gates_as_switches: a gate is open or shut, nothing between
# kind: mistake
# breaks: values, gradients
# equals: gates-open-or-shut

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    gates = (gates > 0).to(queries.dtype)
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat_interleave(d))


# %% wrong_gates_by_sentence: gates repeated in the wrong order over (B*H)
# kind: mistake
# breaks: values
# equals: gates-dealt-to-sentences

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    xi = gates.repeat_interleave(queries.shape[0])[:, None, None]  # (B*H, 1, 1)
    return mha.W_o(transpose_output(xi * heads, H))


# %% wrong_gates_detached: the gates are read as plain numbers
# kind: mistake
# breaks: gradients
# equals: gates-detached

def gated_attention(mha, gates, queries, keys, values, valid_lens):
    Q, K, V = mha.W_q(queries), mha.W_k(keys), mha.W_v(values)
    d = Q.shape[-1] // mha.num_heads
    output = 0
    for h in range(mha.num_heads):
        mine = slice(h * d, (h + 1) * d)
        Y = mha.attention(Q[..., mine], K[..., mine], V[..., mine], valid_lens)  # (B, T, d)
        output = output + gates[h].item() * (Y @ mha.W_o.weight[:, mine].T)
    if mha.W_o.bias is not None:
        output = output + mha.W_o.bias
    return output


# %% wrong_gates_on_queries: gates on the projected queries
# kind: mistake
# breaks: values
# equals: gates-on-the-queries

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    B, T, _ = queries.shape
    S, H = keys.shape[1], mha.num_heads

    def split(X):
        return X.reshape(B, -1, H, X.shape[-1] // H).permute(0, 2, 1, 3)  # (B, H, ., d)

    q, k, v = gates.view(H, 1, 1) * split(mha.W_q(queries)), split(mha.W_k(keys)), split(mha.W_v(values))
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5  # (B, H, T, S)
    if valid_lens is not None:
        lens = valid_lens.view(B, 1, -1, 1)
        hidden = torch.arange(S, device=keys.device) >= lens
        scores = scores.masked_fill(hidden, float("-inf"))
    weights = scores.softmax(-1)
    Y = mha.attention.dropout(weights) @ v  # (B, H, T, d)
    return mha.W_o(Y.transpose(1, 2).reshape(B, T, -1))


# %% wrong_gates_on_scores: gates before the softmax
# kind: mistake
# breaks: values
# equals: gates-on-the-queries

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    B, T, _ = queries.shape
    S, H = keys.shape[1], mha.num_heads

    def split(X):
        return X.reshape(B, -1, H, X.shape[-1] // H).permute(0, 2, 1, 3)  # (B, H, ., d)

    q, k, v = split(mha.W_q(queries)), split(mha.W_k(keys)), split(mha.W_v(values))
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5 * gates.view(1, H, 1, 1)  # (B, H, T, S)
    if valid_lens is not None:
        lens = valid_lens.view(B, 1, -1, 1)
        hidden = torch.arange(S, device=keys.device) >= lens
        scores = scores.masked_fill(hidden, float("-inf"))
    weights = scores.softmax(-1)
    Y = mha.attention.dropout(weights) @ v  # (B, H, T, d)
    return mha.W_o(Y.transpose(1, 2).reshape(B, T, -1))


# %% wrong_gates_softmaxed: gates made to sum to one
# kind: mistake
# breaks: values
# equals: nothing

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    gates = gates.softmax(0)
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat_interleave(d))


# %% wrong_gates_tiled: gates repeated feature by feature: 0 1 2 0 1 2
# kind: mistake
# breaks: values
# equals: gates-strided

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat(d))


# %% wrong_gates_upside_down: a gate of one removes its head
# kind: mistake
# breaks: values
# equals: gates-inverted

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * (1 - gates).repeat_interleave(d))


# %% wrong_hook_left_behind: the hook is never removed
# kind: mistake
# breaks: purity
# equals: nothing

def gated_attention(mha, gates, queries, keys, values, valid_lens):
    def scale(module, args):
        joined = args[0]
        parts = joined.unflatten(-1, (len(gates), -1)) * gates[:, None]
        return (parts.flatten(-2),)

    mha.W_o.register_forward_pre_hook(scale)
    return mha(queries, keys, values, valid_lens)


# %% wrong_joined_without_transposing: heads joined by a reshape alone
# kind: mistake
# breaks: values
# equals: nothing

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    B, T, _ = queries.shape
    S, H = keys.shape[1], mha.num_heads

    def split(X):
        return X.reshape(B, -1, H, X.shape[-1] // H).permute(0, 2, 1, 3)  # (B, H, ., d)

    q, k, v = split(mha.W_q(queries)), split(mha.W_k(keys)), split(mha.W_v(values))
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5  # (B, H, T, S)
    if valid_lens is not None:
        lens = valid_lens.view(B, 1, -1, 1)
        hidden = torch.arange(S, device=keys.device) >= lens
        scores = scores.masked_fill(hidden, float("-inf"))
    weights = scores.softmax(-1)
    Y = mha.attention.dropout(weights) @ v  # (B, H, T, d)
    Y = Y * gates.view(1, H, 1, 1)
    return mha.W_o(Y.reshape(B, T, -1))


# %% wrong_lens_ignored: no lengths passed on
# kind: mistake
# breaks: masking
# equals: gates-lens-not-passed

import torch
from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat_interleave(d))


# %% wrong_lens_not_repeated: lengths of the batch given to the heads
# kind: mistake
# breaks: masking, values, shapes
# equals: nothing

from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat_interleave(d))


# %% wrong_lens_tiled: lengths repeated as a whole: 3 1 3 1
# kind: mistake
# breaks: masking
# equals: gates-lens-tiled

from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = valid_lens.repeat(H) if valid_lens.dim() == 1 else valid_lens.repeat(H, 1)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat_interleave(d))


# %% wrong_no_dropout: the weights are never dropped
# kind: mistake
# breaks: modes
# equals: gates-dropout-switched-off

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    B, T, _ = queries.shape
    S, H = keys.shape[1], mha.num_heads

    def split(X):
        return X.reshape(B, -1, H, X.shape[-1] // H).permute(0, 2, 1, 3)  # (B, H, ., d)

    q, k, v = split(mha.W_q(queries)), split(mha.W_k(keys)), split(mha.W_v(values))
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5  # (B, H, T, S)
    if valid_lens is not None:
        lens = valid_lens.view(B, 1, -1, 1)
        hidden = torch.arange(S, device=keys.device) >= lens
        scores = scores.masked_fill(hidden, float("-inf"))
    weights = scores.softmax(-1)
    Y = weights @ v  # (B, H, T, d)
    Y = Y * gates.view(1, H, 1, 1)
    return mha.W_o(Y.transpose(1, 2).reshape(B, T, -1))


# %% wrong_no_grad: computed without gradients
# kind: mistake
# breaks: gradients
# equals: nothing

import torch
from grader.given import transpose_output, transpose_qkv


@torch.no_grad()
def gated_attention(mha, gates, queries, keys, values, valid_lens):
    H = mha.num_heads
    q = transpose_qkv(mha.W_q(queries), H)
    k = transpose_qkv(mha.W_k(keys), H)
    v = transpose_qkv(mha.W_v(values), H)
    if valid_lens is not None:
        valid_lens = torch.repeat_interleave(valid_lens, H, dim=0)
    heads = mha.attention(q, k, v, valid_lens)  # (B*H, T, d)
    joined = transpose_output(heads, H)  # (B, T, D)
    d = joined.shape[-1] // H
    return mha.W_o(joined * gates.repeat_interleave(d))


# %% wrong_one_mask_for_all_queries: only the first length of each sentence counts
# kind: mistake
# breaks: masking
# equals: nothing

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    B, T, _ = queries.shape
    S, H = keys.shape[1], mha.num_heads

    def split(X):
        return X.reshape(B, -1, H, X.shape[-1] // H).permute(0, 2, 1, 3)  # (B, H, ., d)

    q, k, v = split(mha.W_q(queries)), split(mha.W_k(keys)), split(mha.W_v(values))
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5  # (B, H, T, S)
    if valid_lens is not None:
        lens = valid_lens.view(B, 1, -1, 1)[:, :, :1]
        hidden = torch.arange(S, device=keys.device) >= lens
        scores = scores.masked_fill(hidden, float("-inf"))
    weights = scores.softmax(-1)
    Y = mha.attention.dropout(weights) @ v  # (B, H, T, d)
    Y = Y * gates.view(1, H, 1, 1)
    return mha.W_o(Y.transpose(1, 2).reshape(B, T, -1))


# %% wrong_rows_of_w_o: the rows of W_o scaled in place of its columns
# kind: mistake
# breaks: values
# equals: nothing

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    W = mha.W_o.weight
    columns = gates.repeat_interleave(W.shape[1] // mha.num_heads)
    scaled = {"W_o.weight": W * columns[:, None]}
    return torch.func.functional_call(mha, scaled, (queries, keys, values, valid_lens))


# %% wrong_w_o_bias_missing: the bias of W_o is forgotten
# kind: mistake
# breaks: values
# equals: gates-without-output-bias

def gated_attention(mha, gates, queries, keys, values, valid_lens):
    Q, K, V = mha.W_q(queries), mha.W_k(keys), mha.W_v(values)
    d = Q.shape[-1] // mha.num_heads
    output = 0
    for h in range(mha.num_heads):
        mine = slice(h * d, (h + 1) * d)
        Y = mha.attention(Q[..., mine], K[..., mine], V[..., mine], valid_lens)  # (B, T, d)
        output = output + gates[h] * (Y @ mha.W_o.weight[:, mine].T)
    return output


# %% wrong_w_o_changed_for_good: scales the columns of W_o in place and leaves them so
# kind: mistake
# breaks: purity
# equals: nothing

def gated_attention(mha, gates, queries, keys, values, valid_lens):
    d = mha.W_o.weight.shape[1] // mha.num_heads
    W = mha.W_o.weight * gates.repeat_interleave(d)
    del mha.W_o.weight
    mha.W_o.weight = W
    return mha(queries, keys, values, valid_lens)


# %% wrong_weights_multiplied_in_place: multiplies the stored weights through .data
# kind: mistake
# breaks: purity, gradients
# equals: gates-written-into-the-module

def gated_attention(mha, gates, queries, keys, values, valid_lens):
    d = mha.W_o.in_features // mha.num_heads
    mha.W_o.weight.data *= gates.detach().repeat_interleave(d)
    return mha(queries, keys, values, valid_lens)


# %% wrong_gates_after_wo: the gates are multiplied to the features after W_o
# kind: mistake
# breaks: gradients, masking, values
# equals: gates-after-the-output-layer

import torch


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    """Run the module, then scale each head's share of the output."""
    output = mha(queries, keys, values, valid_lens)  # (B, T, D)
    B, T, D = output.shape
    H = len(gates)
    per_head = output.reshape(B, T, H, D // H)
    per_head = per_head * gates.reshape(1, 1, H, 1)
    return per_head.reshape(B, T, D)


# %% wrong_lens_none: the lengths are repeated for the heads without a look at None
# kind: mistake
# breaks: purity, shapes
# equals: nothing

import torch

from grader.given import transpose_output, transpose_qkv


def gated_attention(mha, gates, queries, keys, values, valid_lens):
    num_heads = mha.num_heads
    queries = transpose_qkv(mha.W_q(queries), num_heads)
    keys = transpose_qkv(mha.W_k(keys), num_heads)
    values = transpose_qkv(mha.W_v(values), num_heads)
    valid_lens = valid_lens.repeat_interleave(num_heads, dim=0)
    output = mha.attention(queries, keys, values, valid_lens)  # (B*H, T, d)
    # row b*H + h belongs to head h
    batch = output.shape[0] // num_heads
    output = output * gates.repeat(batch)[:, None, None]
    return mha.W_o(transpose_output(output, num_heads))


# %% wrong_gates_repeated_per_batch: the gates of the rows are made with repeat_interleave
# kind: mistake
# breaks: gradients, masking, values
# equals: gates-dealt-to-sentences

import torch
from torch import nn

from grader.given import transpose_output, transpose_qkv


def gated_attention(
    mha: nn.Module,
    gates: torch.Tensor,
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    valid_lens: torch.Tensor | None,
) -> torch.Tensor:
    n = mha.num_heads
    Q = transpose_qkv(mha.W_q(queries), n)  # (B*H, T, d)
    K = transpose_qkv(mha.W_k(keys), n)
    V = transpose_qkv(mha.W_v(values), n)
    lens = valid_lens
    if lens is not None:
        lens = torch.repeat_interleave(lens, n, dim=0)
    Y = mha.attention(Q, K, V, lens)
    # a gate for every row
    g = torch.repeat_interleave(gates, queries.shape[0])
    Y = Y * g[:, None, None]
    return mha.W_o(transpose_output(Y, n))


# %% right_scaled_output_weights: functional_call with a W_o whose columns are multiplied by the gates
# kind: same

import torch
from torch import nn
from torch.func import functional_call


def gated_attention(
    mha: nn.Module,
    gates: torch.Tensor,
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    valid_lens: torch.Tensor | None,
) -> torch.Tensor:
    # (gate * head) @ W is the same as head @ (gate * W), so put the gates into the columns of W_o
    W = mha.W_o.weight  # (D, H * d)
    columns = gates.to(W.dtype).unsqueeze(1).expand(-1, W.shape[1] // mha.num_heads).flatten()
    return functional_call(mha, {"W_o.weight": W * columns}, (queries, keys, values, valid_lens))
