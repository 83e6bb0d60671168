# exercise: sequence_mask
# says: out-of-place masked_fill, result thrown away
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    mask = torch.arange(X.size(1), device=X.device)[None, :] >= valid_len[:, None]
    mask = mask.reshape(mask.shape + (1,) * (X.dim() - 2))
    X.masked_fill(mask, value)
    return X
