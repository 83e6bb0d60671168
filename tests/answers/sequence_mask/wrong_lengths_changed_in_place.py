# exercise: sequence_mask
# says: reshapes the caller's lengths in place
# kind: mistake
# breaks: purity

import torch

def sequence_mask(X, valid_len, value=0):
    valid_len.unsqueeze_(1)
    mask = torch.arange(X.size(1), device=X.device) < valid_len
    X[~mask] = value
    return X
