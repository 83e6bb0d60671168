# exercise: attention_maps
# says: recognises a decoder by two entries in attention_weights
# kind: mistake
# breaks: shapes, values

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
