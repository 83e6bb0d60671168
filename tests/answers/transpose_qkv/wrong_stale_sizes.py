# exercise: transpose_qkv
# says: reshape uses stale sizes (H and T swapped at the end)
# kind: mistake
# breaks: shapes

def transpose_qkv(X, num_heads):
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1)
    T, H, d = X.shape[1], X.shape[2], X.shape[3]
    X = X.permute(0, 2, 1, 3)
    return X.reshape(-1, H, d)
