# exercise: masked_softmax
# says: runs under torch.no_grad
# kind: mistake
# breaks: gradients

import torch
from torch import nn

@torch.no_grad()
def masked_softmax(X, valid_lens):
    """Perform softmax by masking elements on the last axis."""
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    lens = valid_lens if valid_lens.dim() == 2 else valid_lens[:, None]
    keep = torch.arange(X.shape[-1], device=X.device) < lens[:, :, None]
    return nn.functional.softmax(X.masked_fill(~keep, float('-inf')), dim=-1)
