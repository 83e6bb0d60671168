# exercise: masked_softmax
# says: keeps the last keys of each row instead of the first
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    S = X.shape[-1]
    lens = valid_lens.reshape(X.shape[0], -1, 1)
    keep = torch.arange(S, device=X.device) >= S - lens
    return torch.softmax(X.masked_fill(~keep, float('-inf')), dim=-1)
