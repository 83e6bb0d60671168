# exercise: transpose_qkv
# says: numbers the heads from the last block of features
# kind: different
# breaks: values

import torch

def transpose_qkv(X, num_heads):
    parts = list(X.chunk(num_heads, dim=2))[::-1]
    return torch.stack(parts, dim=1).flatten(0, 1)
