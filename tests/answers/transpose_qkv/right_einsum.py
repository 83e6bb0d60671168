# exercise: transpose_qkv
# says: reorders the axes with einsum
# kind: same
# breaks:

import torch

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    Y = torch.einsum('bthd->bhtd', X.reshape(B, T, num_heads, D // num_heads))
    return Y.reshape(B * num_heads, T, D // num_heads)
