# exercise: masked_softmax
# says: multiplies the scores by the 0/1 mask before softmax
# kind: mistake
# breaks: values, gradients

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens[:, None].repeat(1, X.shape[1])
    mask = (torch.arange(X.shape[2], device=X.device)[None, None, :] < valid_lens[:, :, None]).float()
    return torch.softmax(X * mask, dim=-1)
