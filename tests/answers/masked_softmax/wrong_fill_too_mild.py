# exercise: masked_softmax
# says: fills with a number that is not small enough
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    NEG = -5.0
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        cols = torch.arange(X.shape[2], device=X.device)
        X = torch.where(cols < lens, X, torch.full_like(X, NEG))
    return torch.softmax(X, dim=2)
