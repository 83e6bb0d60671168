# exercise: masked_softmax
# says: fill = -inf (fully masked rows give NaN)
# kind: same
# breaks:

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return torch.softmax(X, dim=-1)
    lens = valid_lens.unsqueeze(-1) if valid_lens.dim() == 2 else valid_lens[:, None, None]
    keep = torch.arange(X.shape[-1], device=X.device) < lens
    return torch.softmax(X.masked_fill(~keep, float("-inf")), dim=-1)
