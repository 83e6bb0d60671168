# exercise: masked_softmax
# says: off by one the other way: cols < len - 1
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(-1)
    lens = valid_lens.view(X.shape[0], -1, 1) - 1
    cols = torch.arange(X.shape[-1], device=X.device)
    return X.masked_fill(cols >= lens, -1e6).softmax(-1)
