# exercise: masked_softmax
# says: changes the caller's lengths in place
# kind: mistake
# breaks: purity

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    valid_lens -= 1      # last valid index
    last = valid_lens.reshape(X.shape[0], -1, 1)
    return torch.softmax(X.masked_fill(torch.arange(X.shape[-1], device=X.device) > last, -1e6), dim=-1)
