# exercise: transpose_qkv
# says: fills an empty tensor at rows b·H + h
# kind: same
# breaks:

import torch

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    d = D // num_heads
    out = X.new_empty(B * num_heads, T, d)
    for h in range(num_heads):
        out[h::num_heads] = X[:, :, h * d:(h + 1) * d]
    return out
