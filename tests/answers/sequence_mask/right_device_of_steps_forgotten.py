# exercise: sequence_mask
# says: counts the steps on the CPU whatever X's device
# kind: policy
# breaks:
# later: device

import torch

def sequence_mask(X, valid_len, value=0):
    mask = torch.arange(X.size(1))[None, :] < valid_len[:, None]
    X[~mask] = value
    return X
