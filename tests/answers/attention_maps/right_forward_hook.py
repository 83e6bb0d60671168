# exercise: attention_maps
# says: a forward hook reads the weights during the call
# kind: same
# breaks:

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
