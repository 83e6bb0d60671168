# exercise: transpose_output
# says: takes num_heads for the batch size
# kind: mistake
# breaks: values

def transpose_output(X, num_heads):
    X = X.reshape(num_heads, -1, X.shape[1], X.shape[2])
    X = X.permute(0, 2, 1, 3)
    return X.reshape(X.shape[0], X.shape[1], -1)
