# %% right_by_lists_of_numbers: through nested Python lists, detached
# kind: same

import torch


def attention_maps(model, *inputs):
    model(*inputs)
    B = inputs[0].shape[0]

    def as_map(entry):
        if isinstance(entry, list):
            rows = [[head[b].tolist() for head in entry] for b in range(B)]
            like = entry[0]
        else:
            like = entry
            rows = entry.tolist()
            if entry.dim() == 3:
                H = len(rows) // B
                rows = [rows[b * H:(b + 1) * H] for b in range(B)]
        return torch.tensor(rows, dtype=like.dtype, device=like.device)

    if hasattr(model, "init_state"):
        a, c = model.attention_weights
        return {"decoder": [as_map(x) for x in a], "cross": [as_map(x) for x in c]}
    return {"encoder": [as_map(x) for x in model.attention_weights]}


# %% right_forward_hook: a forward hook reads the weights during the call
# kind: same

import torch


def attention_maps(model, *inputs):
    seen = []

    def keep(module, args, output):
        seen.append(module.attention_weights)

    handle = model.register_forward_hook(keep)
    try:
        model(*inputs)
    finally:
        handle.remove()
    weights, B = seen[0], inputs[0].shape[0]

    def tidy(entry):
        if isinstance(entry, list):
            entry = torch.stack(entry).transpose(0, 1)
        T, S = entry.shape[-2:]
        return entry.contiguous().view(B, -1, T, S)

    if hasattr(model, "init_state"):
        return {key: list(map(tidy, layer)) for key, layer in zip(("decoder", "cross"), weights)}
    return {"encoder": list(map(tidy, weights))}


# %% right_left_in_eval: puts the model into evaluation mode and leaves it there
# kind: policy

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    model.eval()
    model(*inputs)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry), dim=1)  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% right_loop_over_rows: every row copied to its place in an empty tensor
# kind: same

import torch


def attention_maps(model, *inputs):
    batch_size = inputs[0].size(0)
    model(*inputs)
    decoder = callable(getattr(model, "init_state", None))
    groups = model.attention_weights if decoder else [model.attention_weights]
    titles = ("decoder", "cross") if decoder else ("encoder",)
    result = {}
    for title, group in zip(titles, groups):
        layers = []
        for entry in group:
            if isinstance(entry, torch.Tensor) and entry.dim() == 3:
                H = entry.size(0) // batch_size
                out = entry.new_empty(batch_size, H, *entry.shape[1:])
                for b in range(batch_size):
                    for h in range(H):
                        out[b, h] = entry[b * H + h]
            elif isinstance(entry, torch.Tensor):
                out = entry.clone()
            else:
                out = entry[0].new_empty(batch_size, len(entry), *entry[0].shape[1:])
                for h, weights in enumerate(entry):
                    out[:, h] = weights
            layers.append(out)
        result[title] = layers
    return result


# %% right_no_grad_unflatten: without gradients; unflatten
# kind: same

import torch


def attention_maps(model, *inputs):
    with torch.no_grad():
        model(*inputs)
    batch_size = len(inputs[0])
    names = ["decoder", "cross"] if hasattr(model, "init_state") else ["encoder"]
    kept = model.attention_weights if len(names) == 2 else [model.attention_weights]
    maps = {}
    for name, layers in zip(names, kept):
        maps[name] = []
        for W in layers:
            if type(W) is list:
                W = torch.cat([head.unsqueeze(1) for head in W], 1)
            elif W.ndim == 3:
                W = W.unflatten(0, (batch_size, -1))
            maps[name].append(W)
    return maps


# %% right_plain: reshape for three axes, stack for a list
# kind: same

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    model(*inputs)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry), dim=1)  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% right_split_by_sentence: the rows of one sentence at a time
# kind: same

import torch


def attention_maps(model, *inputs):
    model(*inputs)
    n = inputs[0].shape[0]

    def convert(w):
        if not torch.is_tensor(w):
            return torch.stack([torch.stack([head[i] for head in w]) for i in range(n)])
        if w.dim() == 4:
            return w
        return torch.stack(w.chunk(n, dim=0))

    aw = model.attention_weights
    if "init_state" in dir(model):
        return {"decoder": [convert(w) for w in aw[0]], "cross": [convert(w) for w in aw[1]]}
    else:
        return {"encoder": [convert(w) for w in aw]}


# %% right_strided_rows: head h is every H-th row
# kind: same

import torch


def attention_maps(model, *inputs):
    tokens = inputs[0]
    model(*inputs)

    def heads(entry):
        if isinstance(entry, torch.Tensor) and len(entry.shape) == 4:
            return [entry[:, h] for h in range(entry.shape[1])]
        if isinstance(entry, torch.Tensor):
            H = len(entry) // len(tokens)
            return [entry[h::H] for h in range(H)]
        return entry

    def layers(entries):
        return [torch.stack(tuple(heads(entry)), 1) for entry in entries]

    weights = model.attention_weights
    if not hasattr(model, "init_state"):
        return dict(encoder=layers(weights))
    return dict(decoder=layers(weights[0]), cross=layers(weights[1]))


# %% wrong_batch_dropped: the first sentence only
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    model(*inputs)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry), dim=1)  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])[:1]

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% wrong_called_twice: a first call to look at the shapes, a second one for the weights
# kind: mistake
# breaks: modes, values, shapes
# equals: nothing

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    model(*inputs)  # fills attention_weights
    model(*inputs)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry), dim=1)  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% wrong_decoder_as_encoder: one key for every model
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch


def attention_maps(model, *inputs):
    model(*inputs)
    n = len(inputs[0])

    def tidy(w):
        if isinstance(w, list):
            w = torch.stack(w, 1)
        return w.reshape(n, -1, *w.shape[-2:])

    weights = model.attention_weights
    if hasattr(model, "init_state"):
        weights = weights[0] + weights[1]
    return {"encoder": [tidy(w) for w in weights]}


# %% wrong_first_head_of_list: takes the first head of a list
# kind: mistake
# breaks: shapes, values
# equals: nothing

def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    model(*inputs)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return entry[0].unsqueeze(1)  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% wrong_flat_rows_kept: three axes are left as they are
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    model(*inputs)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry), dim=1)  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% wrong_four_axes_unknown: an entry with four axes is reshaped as if it had three
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    model(*inputs)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry), dim=1)  # (B, H, T, S)
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% wrong_heads_outermost: rows read as h*B + b
# kind: mistake
# breaks: values
# equals: maps-heads-before-sentences

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    model(*inputs)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry), dim=1)  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry.reshape(-1, B, entry.shape[1], entry.shape[2]).transpose(0, 1)

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% wrong_last_layer_only: only the last layer
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    model(*inputs)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry), dim=1)  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(model.attention_weights[-1])]}


# %% wrong_lens_not_passed: calls an encoder with the tokens alone
# kind: mistake
# breaks: masking, values
# equals: nothing

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    if hasattr(model, "init_state"):
        model(*inputs)
    else:
        model(inputs[0], None)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry), dim=1)  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% wrong_list_stacked_in_front: a list of heads stacked along a new first axis
# kind: mistake
# breaks: shapes, values
# equals: maps-listed-stacked-in-front

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    model(*inputs)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry))  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% wrong_lists_of_heads_unknown: an entry that is a list is not expected
# kind: mistake
# breaks: shapes, values
# equals: maps-lists-not-expected

def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    model(*inputs)

    def one_layout(entry):
        if entry.dim() == 4:
            return entry
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% wrong_mean_over_heads: the heads averaged into one map
# kind: mistake
# breaks: shapes, values
# equals: maps-mean-over-heads

import torch


def attention_maps(model, *inputs):
    with torch.no_grad():
        model(*inputs)
    batch_size = len(inputs[0])
    names = ["decoder", "cross"] if hasattr(model, "init_state") else ["encoder"]
    kept = model.attention_weights if len(names) == 2 else [model.attention_weights]
    maps = {}
    for name, layers in zip(names, kept):
        maps[name] = []
        for W in layers:
            if type(W) is list:
                W = torch.cat([head.unsqueeze(1) for head in W], 1)
            elif W.ndim == 3:
                W = W.unflatten(0, (batch_size, -1))
            maps[name].append(W.mean(dim=1, keepdim=True))
    return maps


# %% wrong_not_called: does not call the model; reads the weights of an earlier call
# kind: mistake
# breaks: shapes, values
# equals: maps-not-called

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[0]

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry), dim=1)  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% wrong_own_and_cross_swapped: the cross attention comes as decoder
# kind: mistake
# breaks: shapes, values
# equals: maps-cross-and-self-swapped

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    model(*inputs)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry), dim=1)  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])

    if hasattr(model, "init_state"):
        cross, own = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% wrong_queries_and_keys_swapped: the two last axes exchanged
# kind: mistake
# breaks: shapes, values
# equals: maps-queries-and-keys-exchanged

import torch


def attention_maps(model, *inputs):
    with torch.no_grad():
        model(*inputs)
    batch_size = len(inputs[0])
    names = ["decoder", "cross"] if hasattr(model, "init_state") else ["encoder"]
    kept = model.attention_weights if len(names) == 2 else [model.attention_weights]
    maps = {}
    for name, layers in zip(names, kept):
        maps[name] = []
        for W in layers:
            if type(W) is list:
                W = torch.cat([head.unsqueeze(1) for head in W], 1)
            elif W.ndim == 3:
                W = W.unflatten(0, (batch_size, -1))
            maps[name].append(W.transpose(2, 3))
    return maps


# %% wrong_softmax_again: a softmax over weights that are weights already
# kind: mistake
# breaks: values
# equals: nothing

import torch


def attention_maps(model, *inputs):
    with torch.no_grad():
        model(*inputs)
    batch_size = len(inputs[0])
    names = ["decoder", "cross"] if hasattr(model, "init_state") else ["encoder"]
    kept = model.attention_weights if len(names) == 2 else [model.attention_weights]
    maps = {}
    for name, layers in zip(names, kept):
        maps[name] = []
        for W in layers:
            if type(W) is list:
                W = torch.cat([head.unsqueeze(1) for head in W], 1)
            elif W.ndim == 3:
                W = W.unflatten(0, (batch_size, -1))
            maps[name].append(W.softmax(dim=-1))
    return maps


# %% wrong_steps_as_batch: B read from the wrong axis of the tokens
# kind: mistake
# breaks: shapes, values
# equals: maps-steps-taken-for-sentences

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[-1]
    model(*inputs)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry), dim=1)  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% wrong_two_entries_mean_decoder: recognises a decoder by two entries in attention_weights
# kind: mistake
# breaks: shapes, values
# equals: nothing

import torch


def attention_maps(model, *inputs):
    B = inputs[0].shape[0]
    model(*inputs)

    def one_layout(entry):
        if isinstance(entry, (list, tuple)):
            return torch.stack(list(entry), dim=1)  # (B, H, T, S)
        if entry.dim() == 4:
            return entry
        return entry.reshape(B, -1, entry.shape[1], entry.shape[2])

    if len(model.attention_weights) == 2:
        own, cross = model.attention_weights
        return {"decoder": [one_layout(w) for w in own], "cross": [one_layout(w) for w in cross]}
    return {"encoder": [one_layout(w) for w in model.attention_weights]}


# %% wrong_stale: the model is called only if it has no weights from an earlier call
# kind: mistake
# breaks: defaults, shapes
# equals: nothing

import torch
from torch import nn


def attention_maps(model: nn.Module, *inputs) -> dict:
    """Return the weights in the layout (B, H, T, S)."""
    # no need to run the model twice
    if not hasattr(model, "attention_weights") or not model.attention_weights:
        with torch.no_grad():
            model(*inputs)
    batch = len(inputs[0])

    def convert(entry):
        if not torch.is_tensor(entry):
            return torch.stack(tuple(entry), dim=1)
        return entry if entry.ndim == 4 else entry.unflatten(0, (batch, -1))

    if hasattr(model, "init_state"):
        own, cross = model.attention_weights
        return {"decoder": list(map(convert, own)), "cross": list(map(convert, cross))}
    return {"encoder": list(map(convert, model.attention_weights))}


# %% wrong_decoder_by_length: two entries are taken for the two lists of a decoder, also for an encoder with two layers
# kind: mistake
# breaks: shapes
# equals: nothing

import torch


def attention_maps(model, *inputs):
    model(*inputs)
    B = inputs[0].size(0)

    def reshape(w):
        if isinstance(w, (list, tuple)):
            return torch.stack(list(w), dim=1)
        if w.dim() == 3:
            return w.reshape(B, -1, w.size(1), w.size(2))
        return w

    weights = model.attention_weights
    if len(weights) == 2:
        self_weights, cross_weights = weights
        return {
            "decoder": [reshape(w) for w in self_weights],
            "cross": [reshape(w) for w in cross_weights],
        }
    return {"encoder": [reshape(w) for w in weights]}


# %% wrong_heads_before_batch: the rows are viewed as (H, B) and swapped
# kind: mistake
# breaks: defaults, values
# equals: maps-heads-before-sentences

import torch
from torch import nn


def attention_maps(model: nn.Module, *inputs) -> dict[str, list[torch.Tensor]]:
    model(*inputs)
    batch_size = inputs[0].size(0)
    maps = model.attention_weights

    def one_layout(layers):
        result = []
        for layer in layers:
            if isinstance(layer, (list, tuple)):
                layer = torch.stack(list(layer), dim=1)
            elif layer.ndim == 3:
                heads = layer.size(0) // batch_size
                layer = layer.view(heads, batch_size, *layer.shape[1:]).transpose(0, 1)
            result.append(layer)
        return result

    if hasattr(model, "init_state"):
        return dict(decoder=one_layout(maps[0]), cross=one_layout(maps[1]))
    return dict(encoder=one_layout(maps))


# %% wrong_inputs_not_unpacked: model(inputs) instead of model(*inputs)
# kind: mistake
# breaks: shapes
# equals: nothing

import torch
from torch import nn


def attention_maps(model: nn.Module, *inputs) -> dict[str, list[torch.Tensor]]:
    B = inputs[0].shape[0]

    def to_4d(entry):
        if isinstance(entry, list):
            return torch.stack(entry, dim=1)
        if entry.dim() == 3:
            return entry.reshape(B, -1, entry.shape[1], entry.shape[2])
        return entry

    model(inputs)
    w = model.attention_weights
    if hasattr(model, "init_state"):
        return {"decoder": [to_4d(e) for e in w[0]], "cross": [to_4d(e) for e in w[1]]}
    return {"encoder": [to_4d(e) for e in w]}
