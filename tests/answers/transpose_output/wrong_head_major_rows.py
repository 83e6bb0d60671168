# exercise: transpose_output
# says: takes the rows for h·B + b
# kind: mistake
# breaks: values

import torch

def transpose_output(X, num_heads):
    return torch.cat(X.chunk(num_heads, dim=0), dim=-1)
