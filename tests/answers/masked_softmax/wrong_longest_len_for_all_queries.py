# exercise: masked_softmax
# says: 2-D lens: the longest length of a sequence serves all its queries
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    out = torch.zeros_like(X)
    L = valid_lens.reshape(X.shape[0], -1).expand(X.shape[0], X.shape[1])
    for b in range(X.shape[0]):
        n = int(L[b].max())      # one length a sequence is enough
        out[b, :, :n] = torch.softmax(X[b, :, :n], dim=-1)
    return out
