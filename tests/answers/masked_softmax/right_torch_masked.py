# exercise: masked_softmax
# says: uses torch.masked.softmax
# kind: same
# breaks:

import torch
from torch import masked

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    lens = valid_lens.reshape(X.shape[0], -1, 1)
    keep = (torch.arange(X.shape[-1], device=X.device) < lens).expand(X.shape)
    return masked.softmax(X, -1, mask=keep)
