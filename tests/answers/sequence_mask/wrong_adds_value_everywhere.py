# exercise: sequence_mask
# says: zeroes the padding and then adds value to everything
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    mask = (torch.arange(X.size(1), device=X.device) < valid_len[:, None]).to(X.dtype)
    mask = mask[(...,) + (None,) * (X.dim() - 2)]
    return X * mask + value
