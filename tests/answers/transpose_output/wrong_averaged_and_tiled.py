# exercise: transpose_output
# says: averages the heads and tiles instead of concatenating
# kind: mistake
# breaks: values

def transpose_output(X, num_heads):
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2])
    return X.mean(dim=1).repeat(1, 1, num_heads)
