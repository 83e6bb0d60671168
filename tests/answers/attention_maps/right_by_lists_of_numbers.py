# exercise: attention_maps
# says: through nested Python lists, detached
# kind: same
# breaks:

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
