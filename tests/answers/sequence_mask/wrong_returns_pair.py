# exercise: sequence_mask
# says: returns the tensor together with the mask
# kind: mistake
# breaks: shapes

import torch

def sequence_mask(X, valid_len, value=0):
    mask = torch.arange(X.size(1), device=X.device)[None, :] < valid_len[:, None]
    out = X.clone()
    out[~mask] = value
    return out, mask
