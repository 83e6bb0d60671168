# exercise: sequence_mask
# says: X times the mask plus value times its complement
# kind: same
# breaks:

import torch

def sequence_mask(X, valid_len, value=0):
    m = (torch.arange(X.size(1), device=X.device)[None] < valid_len[:, None]).to(X.dtype)
    m = m.reshape(list(m.shape) + [1] * (X.dim() - 2))
    return m * X + (1 - m) * value
