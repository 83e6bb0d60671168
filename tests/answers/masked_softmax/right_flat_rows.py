# exercise: masked_softmax
# says: flattens to rows, one length each
# kind: same
# breaks:

import torch
from torch import nn

def _lengths_per_row(valid_lens, shape):
    if valid_lens.dim() == 1:
        return valid_lens.repeat_interleave(shape[1])
    return valid_lens.flatten()

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    rows = X.reshape(-1, X.shape[-1])
    n = _lengths_per_row(valid_lens, X.shape)
    hide = ~(torch.arange(X.shape[-1], device=X.device).unsqueeze(0) < n.unsqueeze(1))
    rows = rows.masked_fill(hide, -torch.inf)
    return nn.Softmax(dim=-1)(rows).reshape(X.shape)
