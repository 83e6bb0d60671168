# exercise: masked_softmax
# says: out-of-place masked_fill, result thrown away
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens[:, None, None] if valid_lens.dim() == 1 else valid_lens[:, :, None]
        mask = torch.arange(X.shape[-1], device=X.device)[None, None, :] >= lens
        X.masked_fill(mask, value=float("-inf"))
    return torch.softmax(X, dim=-1)
