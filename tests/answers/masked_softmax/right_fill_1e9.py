# exercise: masked_softmax
# says: masked_fill with -1e9 (raises on half)
# kind: policy
# breaks:
# later: precision

import torch
import torch.nn.functional as F

def masked_softmax(X, valid_lens):
    if valid_lens is not None:
        lens = valid_lens.unsqueeze(-1) if valid_lens.dim() == 2 else valid_lens[:, None, None]
        mask = torch.arange(X.size(-1), device=X.device)[None, None, :] < lens
        X = X.masked_fill(mask == 0, -1e9)
    return F.softmax(X, dim=-1)
