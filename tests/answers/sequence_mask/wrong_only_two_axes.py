# exercise: sequence_mask
# says: written for two axes, does not take a third one
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    N, T = X.shape
    mask = torch.arange(T, device=X.device).expand(N, T) < valid_len.view(N, 1)
    return torch.where(mask, X, torch.full_like(X, value))
