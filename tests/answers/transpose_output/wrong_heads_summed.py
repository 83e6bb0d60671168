# exercise: transpose_output
# says: adds the heads up, which leaves only d features
# kind: mistake
# breaks: shapes, values

import torch

def transpose_output(X, num_heads):
    """Merge the heads again."""
    B = X.shape[0] // num_heads
    heads = X.view(B, num_heads, X.shape[1], X.shape[2])
    return torch.sum(heads, dim=1)
