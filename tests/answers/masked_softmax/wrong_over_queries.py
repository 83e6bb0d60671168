# exercise: masked_softmax
# says: softmax over dim=1 (queries)
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return nn.functional.softmax(X, dim=1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None].expand(X.shape[0], X.shape[1])
    keep = torch.arange(X.shape[2], device=X.device) < valid_lens[:, :, None]
    return nn.functional.softmax(X.masked_fill(~keep, -1e6), dim=1)
