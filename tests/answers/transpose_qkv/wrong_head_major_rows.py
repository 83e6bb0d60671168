# exercise: transpose_qkv
# says: rows in the order h·B + b instead of b·H + h
# kind: different
# breaks: values

import torch

def transpose_qkv(X, num_heads):
    return torch.cat(torch.chunk(X, num_heads, dim=-1), dim=0)
