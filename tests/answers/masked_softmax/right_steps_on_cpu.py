# exercise: masked_softmax
# says: counts the keys on the CPU whatever the device of the scores
# kind: policy
# breaks:
# later: device

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, -1)
    lens = valid_lens[:, None, None] if valid_lens.ndim == 1 else valid_lens[..., None]
    return torch.softmax(X.masked_fill(torch.arange(X.shape[-1]) >= lens, float('-inf')), -1)
