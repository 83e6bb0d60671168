# exercise: sequence_mask
# says: returns the mask instead of the masked tensor
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    maxlen = X.size(1)
    mask = torch.arange(maxlen, device=X.device)[None, :] < valid_len[:, None]
    X[~mask] = value
    return mask
