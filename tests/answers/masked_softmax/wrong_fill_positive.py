# exercise: masked_softmax
# says: fills with plus 1e6, so padding gets all the weight
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    lens = valid_lens.unsqueeze(-1) if valid_lens.dim() == 2 else valid_lens[:, None, None]
    return torch.softmax(X.masked_fill(torch.arange(X.shape[-1], device=X.device) >= lens, 1e6), dim=-1)
