# exercise: transpose_qkv
# says: reshape straight to (B,H,T,d), no permute
# kind: mistake
# breaks: values

import torch

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    X = X.reshape(B, num_heads, T, D // num_heads)
    return X.reshape(B * num_heads, T, D // num_heads)
