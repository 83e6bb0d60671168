# exercise: sequence_mask
# says: blanks the valid steps and keeps the padding
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    mask = torch.arange(X.size(1), device=X.device)[None, :] < valid_len[:, None]
    X = X.clone()
    X[mask] = value
    return X
