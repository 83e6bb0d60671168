# exercise: attention_maps
# says: one key for every model
# kind: mistake
# breaks: shapes, values

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
