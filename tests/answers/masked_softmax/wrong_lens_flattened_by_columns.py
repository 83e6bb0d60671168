# exercise: masked_softmax
# says: flattens 2-D lengths column by column
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(dim=-1)
    B, T, S = X.shape
    if valid_lens.dim() == 1:
        rows = valid_lens.repeat_interleave(T)
    else:
        rows = valid_lens.t().reshape(-1)
    flat = X.reshape(B * T, S)
    flat = flat.masked_fill(torch.arange(S, device=X.device)[None] >= rows[:, None], -1e6)
    return flat.softmax(dim=-1).reshape(B, T, S)
