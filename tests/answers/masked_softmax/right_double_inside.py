# exercise: masked_softmax
# says: works in float64 inside and casts back
# kind: same
# breaks:

import torch

def masked_softmax(X, valid_lens):
    Y = X.double()
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)
        Y = torch.where(torch.arange(X.shape[-1], device=X.device) < lens, Y, Y.new_tensor(-1e30))
    return torch.softmax(Y, dim=-1).to(X.dtype)
