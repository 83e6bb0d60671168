# exercise: masked_softmax
# says: log_softmax instead of softmax
# kind: mistake
# breaks: values, gradients

import torch
import torch.nn.functional as F

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1)
        pad = torch.arange(X.shape[-1], device=X.device)[None, None] >= lens[:, :, None]
        X = X.masked_fill(pad, -1e6)
    return F.log_softmax(X, dim=-1)
