# exercise: masked_softmax
# says: applies softmax twice
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    p = X
    if valid_lens is not None:
        lens = valid_lens.unsqueeze(-1) if valid_lens.dim() == 2 else valid_lens.view(-1, 1, 1)
        p = p.masked_fill(torch.arange(X.shape[-1], device=X.device) >= lens, -1e6)
    p = torch.softmax(p, dim=-1)
    return torch.softmax(p, dim=-1)
