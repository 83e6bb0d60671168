# exercise: transpose_output
# says: stops at (B, T, H, d)
# kind: mistake
# breaks: shapes

def transpose_output(X, num_heads):
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2])
    return X.permute(0, 2, 1, 3)
