# exercise: masked_softmax
# says: renormalises over queries and keys together after masking
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    w = torch.softmax(X, dim=-1)
    if valid_lens is None:
        return w
    lens = valid_lens.reshape(X.shape[0], -1, 1)
    w = w * (torch.arange(X.shape[-1], device=X.device) < lens)
    return w / w.sum(dim=(1, 2), keepdim=True) * X.shape[1]
