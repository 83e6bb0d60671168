# exercise: transpose_output
# says: copies head by head into an empty tensor
# kind: same
# breaks:

import torch

def transpose_output(X, num_heads):
    rows, T, d = X.shape
    out = torch.empty(rows // num_heads, T, d * num_heads, dtype=X.dtype, device=X.device)
    for r in range(rows):
        b, h = divmod(r, num_heads)
        out[b, :, h * d:(h + 1) * d] = X[r]
    return out
