# exercise: masked_softmax
# says: exp of the score minus the logsumexp over the valid keys
# kind: same
# breaks:

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        L = valid_lens if valid_lens.dim() == 2 else valid_lens[:, None]
        bad = torch.arange(X.shape[-1], device=X.device)[None, None] >= L[..., None]
        X = X.masked_fill(bad, torch.finfo(X.dtype).min)
    return torch.exp(X - torch.logsumexp(X, dim=-1, keepdim=True))
