# exercise: attention_maps
# says: the two last axes exchanged
# kind: mistake
# breaks: shapes, values

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
