# exercise: masked_softmax
# says: if not valid_lens instead of is None
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if not valid_lens:
        return torch.nn.functional.softmax(X, dim=-1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.repeat_interleave(X.shape[1]).reshape(X.shape[:2])
    mask = torch.arange(X.shape[2], device=X.device) < valid_lens.unsqueeze(-1)
    return torch.nn.functional.softmax(X.masked_fill(~mask, -1e6), dim=-1)
