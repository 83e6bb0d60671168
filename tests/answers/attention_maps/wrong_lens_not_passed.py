# exercise: attention_maps
# says: calls an encoder with the tokens alone
# kind: mistake
# breaks: masking, values

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
