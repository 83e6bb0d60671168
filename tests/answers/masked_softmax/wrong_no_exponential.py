# exercise: masked_softmax
# says: normalises the raw scores without exp
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    pos = X - X.min(dim=-1, keepdim=True).values
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        pos = pos * (torch.arange(X.shape[-1], device=X.device) < lens)
    return pos / (pos.sum(dim=-1, keepdim=True) + 1e-8)
