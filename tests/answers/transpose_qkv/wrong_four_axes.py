# exercise: transpose_qkv
# says: forgets to flatten batch and heads (returns 4-D)
# kind: mistake
# breaks: shapes

def transpose_qkv(X, num_heads):
    # (B, T, D) -> (B, H, T, d)
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1)
    return X.permute(0, 2, 1, 3)
