# exercise: masked_softmax
# says: softmax first, zero masked afterwards, no renormalisation
# kind: mistake
# breaks: values, gradients

import torch
import torch.nn.functional as F

def masked_softmax(X, valid_lens):
    A = F.softmax(X, -1)
    if valid_lens is None:
        return A
    L = valid_lens if valid_lens.dim() == 2 else valid_lens.unsqueeze(1).repeat(1, X.size(1))
    mask = torch.arange(X.size(2), device=X.device).view(1, 1, -1) < L.unsqueeze(2)
    return A * mask
