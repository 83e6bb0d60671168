# exercise: transpose_qkv
# says: stacks the chunks of the last axis
# kind: same
# breaks:

import torch

def transpose_qkv(X, num_heads):
    heads = torch.stack(X.chunk(num_heads, dim=-1), dim=1)     # (B, H, T, d)
    return heads.flatten(end_dim=1)
