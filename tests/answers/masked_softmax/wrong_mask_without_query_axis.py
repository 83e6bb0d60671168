# exercise: masked_softmax
# says: builds a (B, S) mask that lacks the query axis
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    mask = torch.arange(X.shape[-1], device=X.device) < valid_lens.unsqueeze(-1)
    return torch.softmax(X.masked_fill(~mask, -1e6), dim=-1)
