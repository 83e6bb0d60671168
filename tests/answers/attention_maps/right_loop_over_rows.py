# exercise: attention_maps
# says: every row copied to its place in an empty tensor
# kind: same
# breaks:

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
