# exercise: sequence_mask
# says: keeps the last steps instead of the first
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    T = X.size(1)
    pos = torch.arange(T, device=X.device).unsqueeze(0)
    pad = pos < (T - valid_len).unsqueeze(1)
    out = X.clone()
    out[pad] = value
    return out
