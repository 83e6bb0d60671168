# exercise: masked_softmax
# says: divides exp by the number of valid keys instead of their sum
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    B, T, S = X.shape
    if valid_lens is None:
        valid_lens = torch.full((B,), S, device=X.device)
    lens = valid_lens.reshape(B, -1, 1)
    e = torch.exp(X) * (torch.arange(S, device=X.device) < lens)
    return e / lens
