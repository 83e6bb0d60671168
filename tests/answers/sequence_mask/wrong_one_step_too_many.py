# exercise: sequence_mask
# says: off by one: cols <= len
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    maxlen = X.size(1)
    mask = torch.arange(maxlen, dtype=torch.float32, device=X.device)[None, :] <= valid_len[:, None]
    X[~mask] = value
    return X
