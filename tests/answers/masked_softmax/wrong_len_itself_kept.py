# exercise: masked_softmax
# says: off by one: cols <= len
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    shape = X.shape
    if valid_lens.dim() == 1:
        valid_lens = torch.repeat_interleave(valid_lens, shape[1])
    else:
        valid_lens = valid_lens.reshape(-1)
    X = X.reshape(-1, shape[-1])
    mask = torch.arange(shape[-1], device=X.device)[None, :] <= valid_lens[:, None]
    X = X.masked_fill(~mask, float('-inf'))
    return nn.functional.softmax(X.reshape(shape), dim=-1)
