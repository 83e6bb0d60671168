# exercise: sequence_mask
# says: counts the steps with a cumulative sum
# kind: same
# breaks:

import torch

def sequence_mask(X, valid_len, value=0):
    ones = torch.ones(X.shape[:2], dtype=torch.long, device=X.device)
    beyond = ones.cumsum(dim=1) > valid_len.reshape(-1, 1)
    result = X.clone()
    result[beyond] = value
    return result
