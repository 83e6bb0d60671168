# exercise: transpose_qkv
# says: splits the steps, not the features, among the heads
# kind: mistake
# breaks: shapes, values

import torch

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    pieces = []
    for b in range(B):
        for h in range(num_heads):
            pieces.append(X[b, h::num_heads])
    n = min(p.shape[0] for p in pieces)
    return torch.stack([p[:n] for p in pieces])
