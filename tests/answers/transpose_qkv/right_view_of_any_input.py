# exercise: transpose_qkv
# says: .view on a possibly non-contiguous input
# kind: same
# breaks:

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    return X.view(B, T, num_heads, D // num_heads).transpose(1, 2).contiguous().view(B * num_heads, T, D // num_heads)
