# exercise: attention_maps
# says: head h is every H-th row
# kind: same
# breaks:

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
