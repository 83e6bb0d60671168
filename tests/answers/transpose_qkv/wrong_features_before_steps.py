# exercise: transpose_qkv
# says: leaves features before steps: (B·H, d, T)
# kind: mistake
# breaks: shapes, values

def transpose_qkv(X, num_heads):
    b, t, D = X.shape
    X = X.view(b, t, num_heads, D // num_heads).permute(0, 2, 3, 1)
    return X.reshape(b * num_heads, D // num_heads, t)
