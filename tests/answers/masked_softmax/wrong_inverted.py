# exercise: masked_softmax
# says: masks the valid keys and keeps the padding
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.unsqueeze(1)
    mask = torch.arange(X.shape[-1], device=X.device) < valid_lens.unsqueeze(-1)
    # mask out
    return torch.softmax(X.masked_fill(mask, -1e6), dim=-1)
