# exercise: masked_softmax
# says: adds the log of the 0/1 mask to the scores
# kind: same
# breaks:

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    lens = valid_lens.reshape(X.shape[0], -1, 1)
    keep = (torch.arange(X.shape[-1], device=X.device) < lens).to(X.dtype)
    return torch.softmax(X + keep.log(), dim=-1)      # log 1 = 0, log 0 = -inf
