# exercise: masked_softmax
# says: exp and sum by hand, largest score subtracted first
# kind: same
# breaks:

import torch

def masked_softmax(X, valid_lens):
    keep = torch.ones_like(X)
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        keep = (torch.arange(X.shape[-1], device=X.device) < lens).to(X.dtype)
    top = X.detach().amax(dim=-1, keepdim=True)       # a constant per row changes nothing
    e = torch.exp(X - top) * keep
    return e / e.sum(dim=-1, keepdim=True)
