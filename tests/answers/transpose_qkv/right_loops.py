# exercise: transpose_qkv
# says: copies sequence by sequence and head by head
# kind: same
# breaks:

import torch

def transpose_qkv(X, num_heads):
    d = X.shape[2] // num_heads
    result = []
    for b in range(X.shape[0]):
        for h in range(num_heads):
            result.append(X[b, :, h * d:(h + 1) * d])
    return torch.stack(result)
