# exercise: transpose_qkv
# says: unflatten, transpose, flatten
# kind: same
# breaks:

import torch

def transpose_qkv(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    return X.unflatten(-1, (num_heads, -1)).transpose(1, 2).flatten(0, 1)
