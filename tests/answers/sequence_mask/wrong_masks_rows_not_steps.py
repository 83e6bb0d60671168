# exercise: sequence_mask
# says: compares the row number, not the step number, with the length
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    N, T = X.shape[0], X.shape[1]
    rows = torch.arange(N, device=X.device)[:, None].expand(N, T)
    mask = rows < valid_len[:, None]
    out = X.clone()
    out[~mask] = value
    return out
