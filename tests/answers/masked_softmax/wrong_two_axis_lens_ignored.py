# exercise: masked_softmax
# says: masks only when lengths are one per sequence
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None and valid_lens.dim() == 1:
        keep = torch.arange(X.shape[-1], device=X.device)[None, :] < valid_lens[:, None]
        X = X.masked_fill(~keep[:, None, :], float('-inf'))
    return torch.softmax(X, dim=-1)
