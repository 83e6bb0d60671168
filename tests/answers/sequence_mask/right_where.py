# exercise: sequence_mask
# says: torch.where between X and the filling value
# kind: same
# breaks:

import torch

def sequence_mask(X: torch.Tensor, valid_len: torch.Tensor, value: float = 0) -> torch.Tensor:
    steps = torch.arange(X.shape[1], device=X.device)
    keep = steps < valid_len[..., None]
    for _ in range(X.dim() - keep.dim()):
        keep = keep.unsqueeze(-1)
    return torch.where(keep, X, torch.full_like(X, value))
