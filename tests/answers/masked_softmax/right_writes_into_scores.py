# exercise: masked_softmax
# says: writes the fill into the caller's scores in place
# kind: same
# breaks:

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        if valid_lens.dim() == 1:
            valid_lens = valid_lens[:, None]
        X.masked_fill_(torch.arange(X.size(2), device=X.device) >= valid_lens[:, :, None], float('-inf'))
    return torch.softmax(X, dim=-1)
