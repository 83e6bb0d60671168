# exercise: masked_softmax
# says: returns the scores when there are no lengths
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X
    lens = valid_lens.unsqueeze(-1) if valid_lens.dim() == 2 else valid_lens.view(-1, 1, 1)
    keep = torch.arange(X.shape[-1], device=X.device) < lens
    return torch.softmax(X.masked_fill(~keep, -1e6), dim=-1)
