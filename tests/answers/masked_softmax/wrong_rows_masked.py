# exercise: masked_softmax
# says: masks query rows instead of key columns
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    B, T, S = X.shape
    if valid_lens.dim() == 2:
        valid_lens = valid_lens[:, -1]
    rows = torch.arange(T, device=X.device)[None, :, None]
    X = X.masked_fill(rows >= valid_lens[:, None, None], -1e6)
    return torch.softmax(X, dim=-1)
