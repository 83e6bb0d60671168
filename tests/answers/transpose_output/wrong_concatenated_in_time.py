# exercise: transpose_output
# says: puts the heads one after another along the steps
# kind: mistake
# breaks: shapes, values

import torch

def transpose_output(X, num_heads):
    B = X.size(0) // num_heads
    out = []
    for b in range(B):
        out.append(torch.cat([X[b * num_heads + h] for h in range(num_heads)], dim=0))
    return torch.stack(out)
