# exercise: sequence_mask
# says: multiplies the padding by value instead of replacing it
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    mask = torch.arange(X.size(1), device=X.device)[None, :] < valid_len[:, None]
    X[~mask] *= value
    return X
