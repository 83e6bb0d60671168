# exercise: masked_softmax
# says: softmax over slices of each sequence written into zeros
# kind: same
# breaks:

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    out = torch.zeros_like(X)
    for i in range(X.size(0)):
        for j in range(X.size(1)):
            n = valid_lens[i] if valid_lens.dim() == 1 else valid_lens[i, j]
            out[i, j, :n] = torch.softmax(X[i, j, :n], dim=-1)
    return out
