# exercise: masked_softmax
# says: writes -1e-6 where -1e6 was meant
# kind: mistake
# breaks: values, gradients

import torch
from torch import nn

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return nn.functional.softmax(X, dim=-1)
    shape = X.shape
    valid_lens = torch.repeat_interleave(valid_lens, shape[1]) if valid_lens.dim() == 1 else valid_lens.reshape(-1)
    X = X.reshape(-1, shape[-1])
    X[torch.arange(shape[-1], device=X.device)[None, :] >= valid_lens[:, None]] = -1e-6
    return nn.functional.softmax(X.reshape(shape), dim=-1)
