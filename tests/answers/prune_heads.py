# %% right_built_by_constructor: a new module from the constructor, filled by load_state_dict
# kind: same

import torch
from torch import nn
from grader.given import MultiHeadAttention


def prune_heads(mha, heads):
    stay = sorted(set(range(mha.num_heads)) - set(heads))
    if len(stay) == 0:
        raise ValueError(f"heads {sorted(set(heads))} are all that there are")
    D = mha.W_o.out_features
    d = mha.W_q.out_features // mha.num_heads
    bias = mha.W_q.bias is not None
    small = MultiHeadAttention(mha.W_k.in_features, mha.W_q.in_features, mha.W_v.in_features,
                               len(stay) * d, len(stay), mha.attention.dropout.p, bias=bias)
    small.W_o = nn.Linear(len(stay) * d, D, bias=bias)
    state = {}
    for name, tensor in mha.state_dict().items():
        if name == "W_o.bias":
            state[name] = tensor
        elif name == "W_o.weight":
            state[name] = torch.cat([tensor[:, h * d:h * d + d] for h in stay], dim=1)
        else:
            state[name] = torch.cat([tensor[h * d:h * d + d] for h in stay], dim=0)
    small.load_state_dict(state)
    small.train(mha.training)
    return small.to(mha.W_q.weight.device, mha.W_q.weight.dtype)


# %% right_copy_with_parameters_cut: a deep copy whose parameters are cut by a mask of rows
# kind: same

import copy

import torch
from torch import nn


def prune_heads(mha, heads):
    new = copy.deepcopy(mha)
    gone = set(heads)
    keep = torch.tensor([h not in gone for h in range(mha.num_heads)])
    if not keep.any():
        raise ValueError("cannot remove every head")
    for layer in (new.W_q, new.W_k, new.W_v):
        rows = keep.repeat_interleave(layer.weight.shape[0] // mha.num_heads).to(layer.weight.device)
        layer.weight = nn.Parameter(layer.weight[rows].detach().clone())
        if layer.bias is not None:
            layer.bias = nn.Parameter(layer.bias[rows].detach().clone())
    new.W_o.weight = nn.Parameter(new.W_o.weight[:, rows].detach().clone())
    new.num_heads = int(keep.sum())
    return new


# %% right_linear_per_head: a new module with layers for each head that stays
# kind: same

import copy

import torch
from torch import nn


class Head(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.q, self.k, self.v = layers

    def forward(self, queries, keys, values, valid_lens, dropout):
        q, k, v = self.q(queries), self.k(keys), self.v(values)
        scores = q @ k.mT / q.shape[-1] ** 0.5
        if valid_lens is not None:
            lens = valid_lens[:, None, None] if valid_lens.dim() == 1 else valid_lens[:, :, None]
            scores[torch.arange(k.shape[1], device=k.device).expand_as(scores) >= lens] = -torch.inf
        return dropout(scores.softmax(-1)) @ v


class HeadsApart(nn.Module):
    def __init__(self, heads, W_o, dropout):
        super().__init__()
        self.heads, self.W_o, self.dropout = nn.ModuleList(heads), W_o, nn.Dropout(dropout)

    @property
    def num_heads(self):
        return len(self.heads)

    def forward(self, queries, keys, values, valid_lens):
        Y = [head(queries, keys, values, valid_lens, self.dropout) for head in self.heads]
        return self.W_o(torch.cat(Y, dim=-1))


def linear(weight, bias):
    new = nn.utils.skip_init(nn.Linear, weight.shape[1], weight.shape[0], bias=bias is not None, device=weight.device, dtype=weight.dtype)
    with torch.no_grad():
        new.weight.copy_(weight)
        if bias is not None:
            new.bias.copy_(bias)
    return new


def prune_heads(mha, heads):
    H = mha.num_heads
    stay = [h for h in range(H) if h not in heads]
    if stay == []:
        raise ValueError("no heads left")
    columns = mha.W_o.weight.chunk(H, dim=1)
    W_o = linear(torch.cat([columns[h] for h in stay], 1), mha.W_o.bias)
    if isinstance(mha, HeadsApart):
        small = HeadsApart([copy.deepcopy(mha.heads[h]) for h in stay], W_o, mha.dropout.p)
    else:
        parts = []
        for layer in (mha.W_q, mha.W_k, mha.W_v):
            biases = [None] * H if layer.bias is None else layer.bias.chunk(H)
            parts.append([linear(w, b) for w, b in zip(layer.weight.chunk(H), biases)])
        small = HeadsApart([Head([part[h] for part in parts]) for h in stay], W_o, mha.attention.dropout.p)
    return small.train(mha.training)


# %% right_new_layers_in_place: new Linear layers put into the module itself
# kind: same

import torch
from torch import nn


def prune_heads(mha, heads):
    H = mha.num_heads
    stay = [h for h in range(H) if h not in heads]
    if not stay:
        raise ValueError("no head would be left")
    d = mha.W_q.out_features // H
    index = torch.cat([torch.arange(h * d, (h + 1) * d) for h in stay]).to(mha.W_q.weight.device)
    for name in ("W_q", "W_k", "W_v", "W_o"):
        old = getattr(mha, name)
        dim = 1 if name == "W_o" else 0
        W = old.weight.detach().index_select(dim, index)
        new = nn.Linear(W.shape[1], W.shape[0], bias=old.bias is not None).to(W.device, W.dtype)
        with torch.no_grad():
            new.weight.copy_(W)
            if old.bias is not None:
                new.bias.copy_(old.bias if name == "W_o" else old.bias[index])
        new.train(old.training)
        setattr(mha, name, new)
    mha.num_heads = len(stay)
    return mha


# %% right_one_by_one_from_above: one head after another, the highest number first
# kind: same

import torch
from torch import nn


def remove_one(mha, h):
    d = mha.W_q.weight.shape[0] // mha.num_heads
    cut = slice(h * d, (h + 1) * d)

    def without(t, dim):
        before, _, after = torch.split(t.detach(), [cut.start, d, t.shape[dim] - cut.stop], dim=dim)
        return nn.Parameter(torch.cat([before, after], dim=dim))

    for layer in [mha.W_q, mha.W_k, mha.W_v]:
        layer.weight = without(layer.weight, 0)
        if layer.bias is not None:
            layer.bias = without(layer.bias, 0)
    mha.W_o.weight = without(mha.W_o.weight, 1)
    mha.num_heads -= 1


def prune_heads(mha, heads):
    wanted = sorted(set(heads), reverse=True)
    if len(wanted) >= mha.num_heads:
        raise ValueError("all heads")
    for h in wanted:
        remove_one(mha, h)
    return mha


# %% right_own_module: a module of its own that knows the head size
# kind: same

import math

import torch
from torch import nn


class SmallAttention(nn.Module):
    """Fewer heads than features would suggest: the head size is kept apart."""

    def __init__(self, num_heads, W_q, W_k, W_v, W_o, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = W_q, W_k, W_v, W_o
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        B, T, S = len(queries), queries.shape[1], keys.shape[1]
        q, k, v = (layer(X).view(B, X.shape[1], self.num_heads, -1).transpose(1, 2)
                   for layer, X in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values)))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        if valid_lens is not None:
            hidden = torch.arange(S, device=q.device)[None, None, None] >= valid_lens.reshape(B, 1, -1, 1)
            scores = scores.masked_fill(hidden, -1e6)
        self.attention_weights = scores.softmax(dim=-1)
        out = self.dropout(self.attention_weights) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, -1))


def part(layer, features, dim):
    weight = layer.weight.detach().index_select(dim, features)
    new = nn.Linear(weight.shape[1], weight.shape[0], bias=layer.bias is not None, device=weight.device, dtype=weight.dtype)
    new.weight.data = weight
    if layer.bias is not None:
        new.bias.data = layer.bias.detach()[features] if dim == 0 else layer.bias.detach().clone()
    return new


def prune_heads(mha, heads):
    d = mha.W_q.weight.shape[0] // mha.num_heads
    stay = [h for h in range(mha.num_heads) if h not in set(heads)]
    if not stay:
        raise ValueError("every head is to be removed")
    features = torch.tensor([h * d + i for h in stay for i in range(d)], device=mha.W_q.weight.device)
    layers = [part(layer, features, 0) for layer in (mha.W_q, mha.W_k, mha.W_v)]
    rate = mha.attention.dropout.p if hasattr(mha, "attention") else mha.dropout.p
    small = SmallAttention(len(stay), *layers, part(mha.W_o, features, 1), rate)
    return small.train(mha.training)


# %% right_unflatten: heads as an axis of their own; nothing to do returns the module
# kind: same

import torch
from torch import nn


def prune_heads(mha, heads):
    left = torch.ones(mha.num_heads, dtype=torch.bool)
    left[list(heads)] = False
    n = left.sum().item()
    if n == 0:
        raise ValueError("at least one head has to stay")
    if n == mha.num_heads:
        return mha
    H = mha.num_heads
    with torch.no_grad():
        for lin in (mha.W_q, mha.W_k, mha.W_v):
            lin.weight = nn.Parameter(lin.weight.unflatten(0, (H, -1))[left].flatten(0, 1))
            if lin.bias is not None:
                lin.bias = nn.Parameter(lin.bias.unflatten(0, (H, -1))[left].flatten())
            lin.out_features = lin.weight.shape[0]
        W = mha.W_o.weight.unflatten(1, (H, -1))[:, left].flatten(1)
        mha.W_o.weight = nn.Parameter(W)
        mha.W_o.in_features = W.shape[1]
    mha.num_heads = n
    return mha


# %% wrong_all_between: removes everything from the first to the last that is named
# kind: mistake
# breaks: values, pruning
# equals: nothing

import torch
from torch import nn
from grader.given import MultiHeadAttention


def prune_heads(mha, heads):
    stay = sorted(set(range(mha.num_heads)) - set(range(min(heads, default=0), max(heads, default=-1) + 1)))
    if len(stay) == 0:
        raise ValueError(f"heads {sorted(set(heads))} are all that there are")
    D = mha.W_o.out_features
    d = mha.W_q.out_features // mha.num_heads
    bias = mha.W_q.bias is not None
    small = MultiHeadAttention(mha.W_k.in_features, mha.W_q.in_features, mha.W_v.in_features,
                               len(stay) * d, len(stay), mha.attention.dropout.p, bias=bias)
    small.W_o = nn.Linear(len(stay) * d, D, bias=bias)
    state = {}
    for name, tensor in mha.state_dict().items():
        if name == "W_o.bias":
            state[name] = tensor
        elif name == "W_o.weight":
            state[name] = torch.cat([tensor[:, h * d:h * d + d] for h in stay], dim=1)
        else:
            state[name] = torch.cat([tensor[h * d:h * d + d] for h in stay], dim=0)
    small.load_state_dict(state)
    small.train(mha.training)
    return small.to(mha.W_q.weight.device, mha.W_q.weight.dtype)


# %% wrong_all_heads_allowed: nothing said when no head is left
# kind: mistake
# breaks: values
# equals: prune-all-heads-accepted

import copy

import torch
from torch import nn


def prune_heads(mha, heads):
    new = copy.deepcopy(mha)
    gone = set(heads)
    keep = torch.tensor([h not in gone for h in range(mha.num_heads)])
    for layer in (new.W_q, new.W_k, new.W_v):
        rows = keep.repeat_interleave(layer.weight.shape[0] // mha.num_heads).to(layer.weight.device)
        layer.weight = nn.Parameter(layer.weight[rows].detach().clone())
        if layer.bias is not None:
            layer.bias = nn.Parameter(layer.bias[rows].detach().clone())
    new.W_o.weight = nn.Parameter(new.W_o.weight[:, rows].detach().clone())
    new.num_heads = int(keep.sum())
    return new


# %% wrong_always_training: the new module is in training mode
# kind: mistake
# breaks: modes
# equals: prune-left-in-training-mode

import torch
from torch import nn
from grader.given import MultiHeadAttention


def prune_heads(mha, heads):
    stay = sorted(set(range(mha.num_heads)) - set(heads))
    if len(stay) == 0:
        raise ValueError(f"heads {sorted(set(heads))} are all that there are")
    D = mha.W_o.out_features
    d = mha.W_q.out_features // mha.num_heads
    bias = mha.W_q.bias is not None
    small = MultiHeadAttention(mha.W_k.in_features, mha.W_q.in_features, mha.W_v.in_features,
                               len(stay) * d, len(stay), mha.attention.dropout.p, bias=bias)
    small.W_o = nn.Linear(len(stay) * d, D, bias=bias)
    state = {}
    for name, tensor in mha.state_dict().items():
        if name == "W_o.bias":
            state[name] = tensor
        elif name == "W_o.weight":
            state[name] = torch.cat([tensor[:, h * d:h * d + d] for h in stay], dim=1)
        else:
            state[name] = torch.cat([tensor[h * d:h * d + d] for h in stay], dim=0)
    small.load_state_dict(state)
    return small.to(mha.W_q.weight.device, mha.W_q.weight.dtype)


# %% wrong_as_they_come: one head after another in the order of the list
# kind: mistake
# breaks: values, shapes, pruning
# equals: prune-one-after-another

import torch
from torch import nn


def remove_one(mha, h):
    d = mha.W_q.weight.shape[0] // mha.num_heads
    cut = slice(h * d, (h + 1) * d)

    def without(t, dim):
        before, _, after = torch.split(t.detach(), [cut.start, d, t.shape[dim] - cut.stop], dim=dim)
        return nn.Parameter(torch.cat([before, after], dim=dim))

    for layer in [mha.W_q, mha.W_k, mha.W_v]:
        layer.weight = without(layer.weight, 0)
        if layer.bias is not None:
            layer.bias = without(layer.bias, 0)
    mha.W_o.weight = without(mha.W_o.weight, 1)
    mha.num_heads -= 1


def prune_heads(mha, heads):
    wanted = list(dict.fromkeys(heads))
    if len(wanted) >= mha.num_heads:
        raise ValueError("all heads")
    for h in wanted:
        remove_one(mha, h)
    return mha


# %% wrong_assert_for_all_heads: an AssertionError when no head is left
# kind: mistake
# breaks: values
# equals: prune-assertion

import math

import torch
from torch import nn


class SmallAttention(nn.Module):
    """Fewer heads than features would suggest: the head size is kept apart."""

    def __init__(self, num_heads, W_q, W_k, W_v, W_o, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = W_q, W_k, W_v, W_o
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        B, T, S = len(queries), queries.shape[1], keys.shape[1]
        q, k, v = (layer(X).view(B, X.shape[1], self.num_heads, -1).transpose(1, 2)
                   for layer, X in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values)))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        if valid_lens is not None:
            hidden = torch.arange(S, device=q.device)[None, None, None] >= valid_lens.reshape(B, 1, -1, 1)
            scores = scores.masked_fill(hidden, -1e6)
        self.attention_weights = scores.softmax(dim=-1)
        out = self.dropout(self.attention_weights) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, -1))


def part(layer, features, dim):
    weight = layer.weight.detach().index_select(dim, features)
    new = nn.Linear(weight.shape[1], weight.shape[0], bias=layer.bias is not None, device=weight.device, dtype=weight.dtype)
    new.weight.data = weight
    if layer.bias is not None:
        new.bias.data = layer.bias.detach()[features] if dim == 0 else layer.bias.detach().clone()
    return new


def prune_heads(mha, heads):
    d = mha.W_q.weight.shape[0] // mha.num_heads
    stay = [h for h in range(mha.num_heads) if h not in set(heads)]
    assert stay, "every head is to be removed"
    features = torch.tensor([h * d + i for h in stay for i in range(d)], device=mha.W_q.weight.device)
    layers = [part(layer, features, 0) for layer in (mha.W_q, mha.W_k, mha.W_v)]
    rate = mha.attention.dropout.p if hasattr(mha, "attention") else mha.dropout.p
    small = SmallAttention(len(stay), *layers, part(mha.W_o, features, 1), rate)
    return small.train(mha.training)


# %% wrong_bias_lost: new layers without bias
# kind: mistake
# breaks: values
# equals: prune-biases-lost+prune-output-bias-lost

import torch
from torch import nn


def prune_heads(mha, heads):
    H = mha.num_heads
    stay = [h for h in range(H) if h not in heads]
    if not stay:
        raise ValueError("no head would be left")
    d = mha.W_q.out_features // H
    index = torch.cat([torch.arange(h * d, (h + 1) * d) for h in stay]).to(mha.W_q.weight.device)
    for name in ("W_q", "W_k", "W_v", "W_o"):
        old = getattr(mha, name)
        dim = 1 if name == "W_o" else 0
        W = old.weight.detach().index_select(dim, index)
        new = nn.Linear(W.shape[1], W.shape[0], bias=False).to(W.device, W.dtype)
        with torch.no_grad():
            new.weight.copy_(W)
        new.train(old.training)
        setattr(mha, name, new)
    mha.num_heads = len(stay)
    return mha


# %% wrong_bias_made_anew: new layers whose biases are random
# kind: mistake
# breaks: values
# equals: prune-biases-made-anew

import torch
from torch import nn


def prune_heads(mha, heads):
    H = mha.num_heads
    stay = [h for h in range(H) if h not in heads]
    if not stay:
        raise ValueError("no head would be left")
    d = mha.W_q.out_features // H
    index = torch.cat([torch.arange(h * d, (h + 1) * d) for h in stay]).to(mha.W_q.weight.device)
    for name in ("W_q", "W_k", "W_v", "W_o"):
        old = getattr(mha, name)
        dim = 1 if name == "W_o" else 0
        W = old.weight.detach().index_select(dim, index)
        new = nn.Linear(W.shape[1], W.shape[0], bias=old.bias is not None).to(W.device, W.dtype)
        with torch.no_grad():
            new.weight.copy_(W)
        new.train(old.training)
        setattr(mha, name, new)
    mha.num_heads = len(stay)
    return mha


# %% wrong_columns_of_all: columns cut in every matrix
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch
from torch import nn


def prune_heads(mha, heads):
    H = mha.num_heads
    stay = [h for h in range(H) if h not in heads]
    if not stay:
        raise ValueError("no head would be left")
    d = mha.W_q.out_features // H
    index = torch.cat([torch.arange(h * d, (h + 1) * d) for h in stay]).to(mha.W_q.weight.device)
    for name in ("W_q", "W_k", "W_v", "W_o"):
        old = getattr(mha, name)
        dim = 1
        W = old.weight.detach().index_select(dim, index)
        new = nn.Linear(W.shape[1], W.shape[0], bias=old.bias is not None).to(W.device, W.dtype)
        with torch.no_grad():
            new.weight.copy_(W)
            if old.bias is not None:
                new.bias.copy_(old.bias if name == "W_o" else old.bias[index])
        new.train(old.training)
        setattr(mha, name, new)
    mha.num_heads = len(stay)
    return mha


# %% wrong_dropout_lost: the new module never drops
# kind: mistake
# breaks: modes
# equals: prune-dropout-lost

import torch
from torch import nn
from grader.given import MultiHeadAttention


def prune_heads(mha, heads):
    stay = sorted(set(range(mha.num_heads)) - set(heads))
    if len(stay) == 0:
        raise ValueError(f"heads {sorted(set(heads))} are all that there are")
    D = mha.W_o.out_features
    d = mha.W_q.out_features // mha.num_heads
    bias = mha.W_q.bias is not None
    small = MultiHeadAttention(mha.W_k.in_features, mha.W_q.in_features, mha.W_v.in_features,
                               len(stay) * d, len(stay), 0.0, bias=bias)
    small.W_o = nn.Linear(len(stay) * d, D, bias=bias)
    state = {}
    for name, tensor in mha.state_dict().items():
        if name == "W_o.bias":
            state[name] = tensor
        elif name == "W_o.weight":
            state[name] = torch.cat([tensor[:, h * d:h * d + d] for h in stay], dim=1)
        else:
            state[name] = torch.cat([tensor[h * d:h * d + d] for h in stay], dim=0)
    small.load_state_dict(state)
    small.train(mha.training)
    return small.to(mha.W_q.weight.device, mha.W_q.weight.dtype)


# %% wrong_features_apart: assumes that the features of a head are H columns apart
# kind: mistake
# breaks: values
# equals: prune-strided-heads

import torch
from torch import nn


def prune_heads(mha, heads):
    H = mha.num_heads
    stay = [h for h in range(H) if h not in heads]
    if not stay:
        raise ValueError("no head would be left")
    d = mha.W_q.out_features // H
    index = torch.cat([torch.arange(h, H * d, H) for h in stay]).to(mha.W_q.weight.device)
    for name in ("W_q", "W_k", "W_v", "W_o"):
        old = getattr(mha, name)
        dim = 1 if name == "W_o" else 0
        W = old.weight.detach().index_select(dim, index)
        new = nn.Linear(W.shape[1], W.shape[0], bias=old.bias is not None).to(W.device, W.dtype)
        with torch.no_grad():
            new.weight.copy_(W)
            if old.bias is not None:
                new.bias.copy_(old.bias if name == "W_o" else old.bias[index])
        new.train(old.training)
        setattr(mha, name, new)
    mha.num_heads = len(stay)
    return mha


# %% wrong_frozen: parameters that cannot be trained
# kind: mistake
# breaks: gradients
# equals: prune-frozen

import copy

import torch
from torch import nn


def prune_heads(mha, heads):
    new = copy.deepcopy(mha)
    gone = set(heads)
    keep = torch.tensor([h not in gone for h in range(mha.num_heads)])
    if not keep.any():
        raise ValueError("cannot remove every head")
    for layer in (new.W_q, new.W_k, new.W_v):
        rows = keep.repeat_interleave(layer.weight.shape[0] // mha.num_heads).to(layer.weight.device)
        layer.weight = nn.Parameter(layer.weight[rows].detach().clone())
        if layer.bias is not None:
            layer.bias = nn.Parameter(layer.bias[rows].detach().clone())
    new.W_o.weight = nn.Parameter(new.W_o.weight[:, rows].detach().clone())
    new.num_heads = int(keep.sum())
    return new.requires_grad_(False)


# %% wrong_frozen_w_o: W_o's matrix becomes a plain tensor
# kind: mistake
# breaks: gradients, pruning
# equals: nothing

import torch
from torch import nn


def prune_heads(mha, heads):
    left = torch.ones(mha.num_heads, dtype=torch.bool)
    left[list(heads)] = False
    n = left.sum().item()
    if n == 0:
        raise ValueError("at least one head has to stay")
    if n == mha.num_heads:
        return mha
    H = mha.num_heads
    with torch.no_grad():
        for lin in (mha.W_q, mha.W_k, mha.W_v):
            lin.weight = nn.Parameter(lin.weight.unflatten(0, (H, -1))[left].flatten(0, 1))
            if lin.bias is not None:
                lin.bias = nn.Parameter(lin.bias.unflatten(0, (H, -1))[left].flatten())
            lin.out_features = lin.weight.shape[0]
        W = mha.W_o.weight.unflatten(1, (H, -1))[:, left].flatten(1)
        del mha.W_o.weight
        mha.W_o.weight = W
        mha.W_o.in_features = W.shape[1]
    mha.num_heads = n
    return mha


# %% wrong_keeps_those_named: keeps the named heads and removes the others
# kind: mistake
# breaks: values, shapes, pruning
# equals: prune-keeps-what-should-go

import copy

import torch
from torch import nn


def prune_heads(mha, heads):
    new = copy.deepcopy(mha)
    gone = set(heads)
    keep = torch.tensor([h in gone for h in range(mha.num_heads)])
    if not keep.any():
        raise ValueError("cannot remove every head")
    for layer in (new.W_q, new.W_k, new.W_v):
        rows = keep.repeat_interleave(layer.weight.shape[0] // mha.num_heads).to(layer.weight.device)
        layer.weight = nn.Parameter(layer.weight[rows].detach().clone())
        if layer.bias is not None:
            layer.bias = nn.Parameter(layer.bias[rows].detach().clone())
    new.W_o.weight = nn.Parameter(new.W_o.weight[:, rows].detach().clone())
    new.num_heads = int(keep.sum())
    return new


# %% wrong_keys_from_queries: W_k is filled with rows of W_q
# kind: mistake
# breaks: values, shapes
# equals: nothing

import torch
from torch import nn
from grader.given import MultiHeadAttention


def prune_heads(mha, heads):
    stay = sorted(set(range(mha.num_heads)) - set(heads))
    if len(stay) == 0:
        raise ValueError(f"heads {sorted(set(heads))} are all that there are")
    D = mha.W_o.out_features
    d = mha.W_q.out_features // mha.num_heads
    bias = mha.W_q.bias is not None
    small = MultiHeadAttention(mha.W_k.in_features, mha.W_q.in_features, mha.W_v.in_features,
                               len(stay) * d, len(stay), mha.attention.dropout.p, bias=bias)
    small.W_o = nn.Linear(len(stay) * d, D, bias=bias)
    state = {}
    for name, tensor in mha.state_dict().items():
        if name.startswith("W_k"):
            tensor = mha.state_dict()[name.replace("W_k", "W_q")]
        if name == "W_o.bias":
            state[name] = tensor
        elif name == "W_o.weight":
            state[name] = torch.cat([tensor[:, h * d:h * d + d] for h in stay], dim=1)
        else:
            state[name] = torch.cat([tensor[h * d:h * d + d] for h in stay], dim=0)
    small.load_state_dict(state)
    small.train(mha.training)
    return small.to(mha.W_q.weight.device, mha.W_q.weight.dtype)


# %% wrong_nothing_for_no_heads: returns None if no head is to be removed
# kind: mistake
# breaks: shapes, pruning, values
# equals: nothing

import copy

import torch
from torch import nn


def prune_heads(mha, heads):
    if not heads:
        return
    new = copy.deepcopy(mha)
    gone = set(heads)
    keep = torch.tensor([h not in gone for h in range(mha.num_heads)])
    if not keep.any():
        raise ValueError("cannot remove every head")
    for layer in (new.W_q, new.W_k, new.W_v):
        rows = keep.repeat_interleave(layer.weight.shape[0] // mha.num_heads).to(layer.weight.device)
        layer.weight = nn.Parameter(layer.weight[rows].detach().clone())
        if layer.bias is not None:
            layer.bias = nn.Parameter(layer.bias[rows].detach().clone())
    new.W_o.weight = nn.Parameter(new.W_o.weight[:, rows].detach().clone())
    new.num_heads = int(keep.sum())
    return new


# %% wrong_num_heads_unchanged: num_heads still says the old number
# kind: mistake
# breaks: values, shapes
# equals: prune-num-heads-not-updated

import copy

import torch
from torch import nn


def prune_heads(mha, heads):
    new = copy.deepcopy(mha)
    gone = set(heads)
    keep = torch.tensor([h not in gone for h in range(mha.num_heads)])
    if not keep.any():
        raise ValueError("cannot remove every head")
    for layer in (new.W_q, new.W_k, new.W_v):
        rows = keep.repeat_interleave(layer.weight.shape[0] // mha.num_heads).to(layer.weight.device)
        layer.weight = nn.Parameter(layer.weight[rows].detach().clone())
        if layer.bias is not None:
            layer.bias = nn.Parameter(layer.bias[rows].detach().clone())
    new.W_o.weight = nn.Parameter(new.W_o.weight[:, rows].detach().clone())
    return new


# %% wrong_numbered_as_at_first: remembers earlier removals and counts heads as at the very first
# kind: mistake
# breaks: values, pruning
# equals: prune-numbered-as-at-first

import torch
from torch import nn


def prune_heads(mha, heads):
    """As in libraries that keep a record: heads keep the numbers they had at first."""
    gone = set(getattr(mha, "pruned_heads", set()))
    total = mha.num_heads + len(gone)
    new = set(heads) - gone
    stay = [h for h in range(total) if h not in gone | new]
    if not stay:
        raise ValueError("nothing left")
    d = mha.W_q.weight.shape[0] // mha.num_heads
    here = [h for h in range(total) if h not in gone]
    index = torch.cat([torch.arange(d) + here.index(h) * d for h in stay]).to(mha.W_q.weight.device)
    for layer in (mha.W_q, mha.W_k, mha.W_v):
        layer.weight = nn.Parameter(layer.weight.data[index])
        if layer.bias is not None:
            layer.bias = nn.Parameter(layer.bias.data[index])
    mha.W_o.weight = nn.Parameter(mha.W_o.weight.data[:, index])
    mha.num_heads = len(stay)
    mha.pruned_heads = gone | new
    return mha


# %% wrong_one_by_one_from_below: one head after another, though the numbers move
# kind: mistake
# breaks: values, shapes, pruning
# equals: nothing

import torch
from torch import nn


def remove_one(mha, h):
    d = mha.W_q.weight.shape[0] // mha.num_heads
    cut = slice(h * d, (h + 1) * d)

    def without(t, dim):
        before, _, after = torch.split(t.detach(), [cut.start, d, t.shape[dim] - cut.stop], dim=dim)
        return nn.Parameter(torch.cat([before, after], dim=dim))

    for layer in [mha.W_q, mha.W_k, mha.W_v]:
        layer.weight = without(layer.weight, 0)
        if layer.bias is not None:
            layer.bias = without(layer.bias, 0)
    mha.W_o.weight = without(mha.W_o.weight, 1)
    mha.num_heads -= 1


def prune_heads(mha, heads):
    wanted = sorted(set(heads))
    if len(wanted) >= mha.num_heads:
        raise ValueError("all heads")
    for h in wanted:
        remove_one(mha, h)
    return mha


# %% wrong_one_head_refused: refuses to leave a single head
# kind: mistake
# breaks: pruning, values, shapes
# equals: nothing

import torch
from torch import nn


def remove_one(mha, h):
    d = mha.W_q.weight.shape[0] // mha.num_heads
    cut = slice(h * d, (h + 1) * d)

    def without(t, dim):
        before, _, after = torch.split(t.detach(), [cut.start, d, t.shape[dim] - cut.stop], dim=dim)
        return nn.Parameter(torch.cat([before, after], dim=dim))

    for layer in [mha.W_q, mha.W_k, mha.W_v]:
        layer.weight = without(layer.weight, 0)
        if layer.bias is not None:
            layer.bias = without(layer.bias, 0)
    mha.W_o.weight = without(mha.W_o.weight, 1)
    mha.num_heads -= 1


def prune_heads(mha, heads):
    wanted = sorted(set(heads), reverse=True)
    if len(wanted) >= mha.num_heads - 1:
        raise ValueError("all heads")
    for h in wanted:
        remove_one(mha, h)
    return mha


# %% wrong_repeats_counted: a head that is named twice counts twice
# kind: mistake
# breaks: pruning, values, shapes
# equals: prune-heads-counted-as-listed

import torch
from torch import nn


def prune_heads(mha, heads):
    left = torch.ones(mha.num_heads, dtype=torch.bool)
    left[list(heads)] = False
    n = left.sum().item()
    if n == 0:
        raise ValueError("at least one head has to stay")
    if n == mha.num_heads:
        return mha
    H = mha.num_heads
    with torch.no_grad():
        for lin in (mha.W_q, mha.W_k, mha.W_v):
            lin.weight = nn.Parameter(lin.weight.unflatten(0, (H, -1))[left].flatten(0, 1))
            if lin.bias is not None:
                lin.bias = nn.Parameter(lin.bias.unflatten(0, (H, -1))[left].flatten())
            lin.out_features = lin.weight.shape[0]
        W = mha.W_o.weight.unflatten(1, (H, -1))[:, left].flatten(1)
        mha.W_o.weight = nn.Parameter(W)
        mha.W_o.in_features = W.shape[1]
    mha.num_heads = H - len(heads)
    return mha


# %% wrong_returns_nothing: changes the module and forgets to return it
# kind: mistake
# breaks: shapes, values
# equals: prune-returns-nothing

import torch
from torch import nn


def remove_one(mha, h):
    d = mha.W_q.weight.shape[0] // mha.num_heads
    cut = slice(h * d, (h + 1) * d)

    def without(t, dim):
        before, _, after = torch.split(t.detach(), [cut.start, d, t.shape[dim] - cut.stop], dim=dim)
        return nn.Parameter(torch.cat([before, after], dim=dim))

    for layer in [mha.W_q, mha.W_k, mha.W_v]:
        layer.weight = without(layer.weight, 0)
        if layer.bias is not None:
            layer.bias = without(layer.bias, 0)
    mha.W_o.weight = without(mha.W_o.weight, 1)
    mha.num_heads -= 1


def prune_heads(mha, heads):
    wanted = sorted(set(heads), reverse=True)
    if len(wanted) >= mha.num_heads:
        raise ValueError("all heads")
    for h in wanted:
        remove_one(mha, h)


# %% wrong_rows_of_w_o: W_o cut along its rows
# kind: mistake
# breaks: shapes, values
# equals: prune-rows-of-the-output-layer

import torch
from torch import nn


def prune_heads(mha, heads):
    H = mha.num_heads
    stay = [h for h in range(H) if h not in heads]
    if not stay:
        raise ValueError("no head would be left")
    d = mha.W_q.out_features // H
    index = torch.cat([torch.arange(h * d, (h + 1) * d) for h in stay]).to(mha.W_q.weight.device)
    for name in ("W_q", "W_k", "W_v", "W_o"):
        old = getattr(mha, name)
        dim = 0
        W = old.weight.detach().index_select(dim, index)
        new = nn.Linear(W.shape[1], W.shape[0], bias=old.bias is not None).to(W.device, W.dtype)
        with torch.no_grad():
            new.weight.copy_(W)
            if old.bias is not None:
                new.bias.copy_(old.bias if name == "W_o" else old.bias[index])
        new.train(old.training)
        setattr(mha, name, new)
    mha.num_heads = len(stay)
    return mha


# %% wrong_scale_of_all_features: scores divided by the square root of features over heads as they were
# kind: mistake
# breaks: values
# equals: nothing

import math

import torch
from torch import nn


class SmallAttention(nn.Module):
    """Fewer heads than features would suggest: the head size is kept apart."""

    def __init__(self, num_heads, W_q, W_k, W_v, W_o, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = W_q, W_k, W_v, W_o
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        B, T, S = len(queries), queries.shape[1], keys.shape[1]
        q, k, v = (layer(X).view(B, X.shape[1], self.num_heads, -1).transpose(1, 2)
                   for layer, X in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values)))
        scores = q @ k.transpose(2, 3) / math.sqrt(self.W_o.out_features / self.num_heads)
        if valid_lens is not None:
            hidden = torch.arange(S, device=q.device)[None, None, None] >= valid_lens.reshape(B, 1, -1, 1)
            scores = scores.masked_fill(hidden, -1e6)
        self.attention_weights = scores.softmax(dim=-1)
        out = self.dropout(self.attention_weights) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, -1))


def part(layer, features, dim):
    weight = layer.weight.detach().index_select(dim, features)
    new = nn.Linear(weight.shape[1], weight.shape[0], bias=layer.bias is not None, device=weight.device, dtype=weight.dtype)
    new.weight.data = weight
    if layer.bias is not None:
        new.bias.data = layer.bias.detach()[features] if dim == 0 else layer.bias.detach().clone()
    return new


def prune_heads(mha, heads):
    d = mha.W_q.weight.shape[0] // mha.num_heads
    stay = [h for h in range(mha.num_heads) if h not in set(heads)]
    if not stay:
        raise ValueError("every head is to be removed")
    features = torch.tensor([h * d + i for h in stay for i in range(d)], device=mha.W_q.weight.device)
    layers = [part(layer, features, 0) for layer in (mha.W_q, mha.W_k, mha.W_v)]
    rate = mha.attention.dropout.p if hasattr(mha, "attention") else mha.dropout.p
    small = SmallAttention(len(stay), *layers, part(mha.W_o, features, 1), rate)
    return small.train(mha.training)


# %% wrong_w_o_bias_cut: the bias of W_o is cut like the others
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch
from torch import nn


def prune_heads(mha, heads):
    H = mha.num_heads
    stay = [h for h in range(H) if h not in heads]
    if not stay:
        raise ValueError("no head would be left")
    d = mha.W_q.out_features // H
    index = torch.cat([torch.arange(h * d, (h + 1) * d) for h in stay]).to(mha.W_q.weight.device)
    for name in ("W_q", "W_k", "W_v", "W_o"):
        old = getattr(mha, name)
        dim = 1 if name == "W_o" else 0
        W = old.weight.detach().index_select(dim, index)
        new = nn.Linear(W.shape[1], W.shape[0], bias=old.bias is not None).to(W.device, W.dtype)
        with torch.no_grad():
            new.weight.copy_(W)
            if old.bias is not None:
                new.bias.copy_(old.bias[index])
        new.train(old.training)
        setattr(mha, name, new)
    mha.num_heads = len(stay)
    return mha


# %% wrong_w_o_bias_made_anew: the bias of W_o is not copied
# kind: mistake
# breaks: values
# equals: nothing

import math

import torch
from torch import nn


class SmallAttention(nn.Module):
    """Fewer heads than features would suggest: the head size is kept apart."""

    def __init__(self, num_heads, W_q, W_k, W_v, W_o, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.W_q, self.W_k, self.W_v, self.W_o = W_q, W_k, W_v, W_o
        self.dropout = nn.Dropout(dropout)

    def forward(self, queries, keys, values, valid_lens=None):
        B, T, S = len(queries), queries.shape[1], keys.shape[1]
        q, k, v = (layer(X).view(B, X.shape[1], self.num_heads, -1).transpose(1, 2)
                   for layer, X in ((self.W_q, queries), (self.W_k, keys), (self.W_v, values)))
        scores = q @ k.transpose(2, 3) / math.sqrt(q.shape[-1])
        if valid_lens is not None:
            hidden = torch.arange(S, device=q.device)[None, None, None] >= valid_lens.reshape(B, 1, -1, 1)
            scores = scores.masked_fill(hidden, -1e6)
        self.attention_weights = scores.softmax(dim=-1)
        out = self.dropout(self.attention_weights) @ v
        return self.W_o(out.transpose(1, 2).reshape(B, T, -1))


def part(layer, features, dim):
    weight = layer.weight.detach().index_select(dim, features)
    new = nn.Linear(weight.shape[1], weight.shape[0], bias=layer.bias is not None, device=weight.device, dtype=weight.dtype)
    new.weight.data = weight
    if layer.bias is not None:
        new.bias.data = layer.bias.detach()[features] if dim == 0 else torch.zeros_like(layer.bias)
    return new


def prune_heads(mha, heads):
    d = mha.W_q.weight.shape[0] // mha.num_heads
    stay = [h for h in range(mha.num_heads) if h not in set(heads)]
    if not stay:
        raise ValueError("every head is to be removed")
    features = torch.tensor([h * d + i for h in stay for i in range(d)], device=mha.W_q.weight.device)
    layers = [part(layer, features, 0) for layer in (mha.W_q, mha.W_k, mha.W_v)]
    rate = mha.attention.dropout.p if hasattr(mha, "attention") else mha.dropout.p
    small = SmallAttention(len(stay), *layers, part(mha.W_o, features, 1), rate)
    return small.train(mha.training)


# %% wrong_w_v_whole: only queries and keys become smaller; of the values the first features are taken
# kind: mistake
# breaks: values
# equals: nothing

import copy

import torch
from torch import nn


def prune_heads(mha, heads):
    new = copy.deepcopy(mha)
    gone = set(heads)
    keep = torch.tensor([h not in gone for h in range(mha.num_heads)])
    if not keep.any():
        raise ValueError("cannot remove every head")
    n = int(keep.sum()) * (mha.W_v.weight.shape[0] // mha.num_heads)
    new.W_v.weight = nn.Parameter(mha.W_v.weight[:n].detach().clone())
    if new.W_v.bias is not None:
        new.W_v.bias = nn.Parameter(mha.W_v.bias[:n].detach().clone())
    for layer in (new.W_q, new.W_k):
        rows = keep.repeat_interleave(layer.weight.shape[0] // mha.num_heads).to(layer.weight.device)
        layer.weight = nn.Parameter(layer.weight[rows].detach().clone())
        if layer.bias is not None:
            layer.bias = nn.Parameter(layer.bias[rows].detach().clone())
    new.W_o.weight = nn.Parameter(new.W_o.weight[:, rows].detach().clone())
    new.num_heads = int(keep.sum())
    return new


# %% wrong_zeros: fills with zeros in place of making smaller
# kind: mistake
# breaks: pruning
# equals: prune-zeroed-and-not-removed

import torch


def prune_heads(mha, heads):
    if len(set(heads)) == mha.num_heads:
        raise ValueError("no heads left")
    d = mha.W_q.out_features // mha.num_heads
    with torch.no_grad():
        for h in heads:
            mha.W_o.weight[:, h * d:(h + 1) * d] = 0
    return mha


# %% wrong_new_default_bias: new linear layers get a random bias although the old ones had none
# kind: mistake
# breaks: gradients, masking, modes, pruning, values, weights
# equals: prune-biases-invented

import torch
from torch import nn


def prune_heads(mha, heads):
    num_heads = mha.num_heads
    heads = set(heads)
    if len(heads) >= num_heads:
        raise ValueError("at least one head must stay")
    d = mha.W_o.in_features // num_heads
    rows = torch.tensor([h * d + j for h in range(num_heads) if h not in heads for j in range(d)],
                        device=mha.W_o.weight.device)

    def smaller(old, dim):
        n_in = len(rows) if dim == 1 else old.in_features
        n_out = len(rows) if dim == 0 else old.out_features
        new = nn.Linear(n_in, n_out).to(old.weight.device, old.weight.dtype)
        with torch.no_grad():
            new.weight.copy_(old.weight.index_select(dim, rows))
            if old.bias is not None:
                new.bias.copy_(old.bias[rows] if dim == 0 else old.bias)
        return new

    mha.W_q = smaller(mha.W_q, 0)
    mha.W_k = smaller(mha.W_k, 0)
    mha.W_v = smaller(mha.W_v, 0)
    mha.W_o = smaller(mha.W_o, 1)
    mha.num_heads = num_heads - len(heads)
    return mha


# %% wrong_asserts: an assertion instead of a ValueError when no head is left
# kind: mistake
# breaks: values
# equals: prune-assertion

import torch
from torch import nn


def prune_heads(mha, heads):
    H = mha.num_heads
    keep = torch.tensor([h not in heads for h in range(H)], device=mha.W_o.weight.device)
    assert keep.any(), "cannot remove all heads"
    keep_features = keep.repeat_interleave(mha.W_o.in_features // H)
    size = int(keep_features.sum())
    with torch.no_grad():
        for lin in [mha.W_q, mha.W_k, mha.W_v]:
            lin.weight = nn.Parameter(lin.weight[keep_features].clone())
            if lin.bias is not None:
                lin.bias = nn.Parameter(lin.bias[keep_features].clone())
            lin.out_features = size
        mha.W_o.weight = nn.Parameter(mha.W_o.weight[:, keep_features].clone())
        mha.W_o.in_features = size
    mha.num_heads = int(keep.sum())
    return mha


# %% wrong_slice_is_no_parameter: a slice becomes the weight without nn.Parameter
# kind: mistake
# breaks: gradients, masking, modes, pruning, purity, shapes, values
# equals: nothing

import torch
from torch import nn


def prune_heads(mha: nn.Module, heads: list[int]) -> nn.Module:
    H = mha.num_heads
    keep = [h for h in range(H) if h not in heads]
    if len(keep) == 0:
        raise ValueError("at least one head has to stay")
    d = mha.W_o.weight.shape[1] // H
    index = torch.cat([torch.arange(h * d, (h + 1) * d) for h in keep]).to(mha.W_o.weight.device)
    for layer in [mha.W_q, mha.W_k, mha.W_v]:
        layer.weight = layer.weight.detach()[index]
        if layer.bias is not None:
            layer.bias = layer.bias.detach()[index]
        layer.out_features = len(index)
    mha.W_o.weight = mha.W_o.weight.detach()[:, index]
    mha.W_o.in_features = len(index)
    mha.num_heads = len(keep)
    return mha
