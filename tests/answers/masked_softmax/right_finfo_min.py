# exercise: masked_softmax
# says: fills with the smallest number of the dtype
# kind: same
# breaks:

import torch
from typing import Optional

def masked_softmax(X: torch.Tensor, valid_lens: Optional[torch.Tensor]) -> torch.Tensor:
    if valid_lens is not None:
        lens = valid_lens.reshape(X.shape[0], -1, 1)                    # (B, 1 or T, 1)
        padded = torch.arange(X.shape[-1], device=X.device) >= lens     # (B, 1 or T, S)
        X = X.masked_fill(padded, torch.finfo(X.dtype).min)
    return X.softmax(-1)
