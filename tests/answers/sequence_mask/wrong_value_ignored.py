# exercise: sequence_mask
# says: always fills with 0, whatever value says
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    """Keep the first valid_len steps of each row."""
    steps = torch.arange(X.shape[1], device=X.device)
    keep = steps.unsqueeze(0) < valid_len.unsqueeze(1)
    while keep.dim() < X.dim():
        keep = keep.unsqueeze(-1)
    return X * keep
