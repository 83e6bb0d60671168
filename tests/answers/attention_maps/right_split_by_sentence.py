# exercise: attention_maps
# says: the rows of one sentence at a time
# kind: same
# breaks:

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
