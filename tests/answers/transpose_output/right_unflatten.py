# exercise: transpose_output
# says: unflatten, transpose, flatten
# kind: same
# breaks:

import torch

def transpose_output(X: torch.Tensor, num_heads: int) -> torch.Tensor:
    return X.unflatten(0, (-1, num_heads)).transpose(1, 2).flatten(2)
