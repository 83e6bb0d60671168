# exercise: masked_softmax
# says: casts to float32 internally and returns float32
# kind: policy
# breaks:
# later: precision

import torch

def masked_softmax(X, valid_lens):
    scores = X.float()
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        scores = scores.masked_fill(torch.arange(X.shape[-1], device=X.device) >= lens, -1e30)
    return torch.softmax(scores, dim=-1)
