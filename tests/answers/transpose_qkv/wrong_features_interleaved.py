# exercise: transpose_qkv
# says: features split as (d, H) instead of (H, d)
# kind: different
# breaks: values

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    X = X.reshape(B, T, -1, num_heads)
    X = X.permute(0, 3, 1, 2)
    return X.reshape(B * num_heads, T, -1)
