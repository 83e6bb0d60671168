# exercise: masked_softmax
# says: adds (~keep).float() * -inf (0*-inf = NaN)
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, -1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None]
    keep = torch.arange(X.size(-1), device=X.device) < valid_lens[..., None]
    return torch.softmax(X + (~keep).float() * float('-inf'), -1)
