# exercise: sequence_mask
# says: counts along the last axis instead of the step axis
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    idx = torch.arange(X.shape[-1], device=X.device)
    shape = [-1] + [1] * (X.dim() - 1)
    return X.masked_fill(idx >= valid_len.reshape(shape), value)
