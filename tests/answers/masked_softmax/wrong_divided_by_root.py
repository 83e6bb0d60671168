# exercise: masked_softmax
# says: divides the scores by the root of the number of keys
# kind: mistake
# breaks: values, gradients

import math
import torch

def masked_softmax(X, valid_lens):
    X = X / math.sqrt(X.shape[-1])
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        X = X.masked_fill(torch.arange(X.shape[-1], device=X.device) >= lens, -1e6)
    return torch.softmax(X, dim=-1)
