# exercise: masked_softmax
# says: masked_fill with the literal -1e6
# kind: policy
# breaks:
# later: precision

import torch

def masked_softmax(X, valid_lens):
    if valid_lens is None:
        return X.softmax(dim=-1)
    B, T, S = X.shape
    if valid_lens.dim() == 1:
        valid_lens = valid_lens.view(B, 1).expand(B, T)
    padding = torch.arange(S, device=X.device).view(1, 1, S) >= valid_lens.view(B, T, 1)
    return X.masked_fill(padding, -1e6).softmax(dim=-1)
