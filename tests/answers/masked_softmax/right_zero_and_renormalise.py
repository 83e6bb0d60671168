# exercise: masked_softmax
# says: softmax, zero the masked weights, divide by what is left
# kind: same
# breaks:

import torch

def masked_softmax(X, valid_lens):
    w = torch.softmax(X, dim=-1)
    if valid_lens is None:
        return w
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.unsqueeze(-1)
    mask = torch.arange(X.shape[-1], device=X.device) < valid_lens.unsqueeze(-1)
    w = w * mask
    return w / w.sum(dim=-1, keepdim=True)
