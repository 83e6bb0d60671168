# exercise: transpose_output
# says: reorders the axes with einsum
# kind: same
# breaks:

import torch

def transpose_output(X, num_heads):
    n, T, d = X.shape
    Y = torch.einsum('bhtd->bthd', X.view(n // num_heads, num_heads, T, d))
    return Y.reshape(n // num_heads, T, num_heads * d)
