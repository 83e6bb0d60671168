# exercise: masked_softmax
# says: 2-D lens: only first column used for all queries
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=2)
    if valid_lens.dim() > 1:
        valid_lens = valid_lens[:, 0]
    B, T, S = X.shape
    m = torch.arange(S, device=X.device).expand(B, T, S) < valid_lens.view(B, 1, 1)
    return torch.softmax(torch.where(m, X, torch.full_like(X, -1e9)), dim=2)
