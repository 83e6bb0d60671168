# exercise: masked_softmax
# says: also hides keys after the query's own position
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    B, T, S = X.shape
    keep = torch.ones(T, S, dtype=torch.bool, device=X.device).tril().expand(B, T, S)
    if valid_lens is not None:
        keep = keep & (torch.arange(S, device=X.device) < valid_lens.reshape(B, -1, 1))
    return torch.softmax(X.masked_fill(~keep, -1e6), dim=-1)
