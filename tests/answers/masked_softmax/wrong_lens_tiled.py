# exercise: masked_softmax
# says: lengths per sequence tiled with repeat instead of repeat_interleave
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    else:
        shape = X.shape
        if valid_lens.dim() == 1:
            valid_lens = valid_lens.repeat(shape[1])
        else:
            valid_lens = valid_lens.reshape(-1)
        X = X.reshape(-1, shape[-1])
        mask = torch.arange(X.size(1), device=X.device)[None, :] < valid_lens[:, None]
        X = torch.where(mask, X, torch.tensor(-1e6, dtype=X.dtype, device=X.device))
        return nn.functional.softmax(X.reshape(shape), dim=-1)
