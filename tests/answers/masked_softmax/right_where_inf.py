# exercise: masked_softmax
# says: torch.where against minus infinity
# kind: same
# breaks:

import torch

def masked_softmax(X, valid_lens):
    B, T, S = X.shape
    if valid_lens is None:
        valid_lens = torch.full((B, T), S, device=X.device)
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.repeat_interleave(T).view(B, T)
    visible = torch.arange(S, device=X.device).expand(B, T, S) < valid_lens[..., None]
    ninf = torch.tensor(float('-inf'), dtype=X.dtype, device=X.device)
    return torch.where(visible, X, ninf).softmax(dim=2)
