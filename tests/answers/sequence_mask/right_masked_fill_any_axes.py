# exercise: sequence_mask
# says: masked_fill with as many trailing axes as X has
# kind: same
# breaks:

import torch

def sequence_mask(X, valid_len, value=0):
    n, t = X.shape[:2]
    pad = torch.arange(t, device=X.device).view(1, t) >= valid_len.view(n, 1)
    return X.masked_fill(pad.view(n, t, *[1] * (X.ndim - 2)), value)
