# exercise: transpose_output
# says: concatenates every H-th row along the features
# kind: same
# breaks:

import torch

def transpose_output(X, num_heads):
    return torch.cat([X[h::num_heads] for h in range(num_heads)], dim=-1)
