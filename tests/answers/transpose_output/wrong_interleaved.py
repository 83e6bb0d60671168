# exercise: transpose_output
# says: permute(0,2,3,1): features interleaved across heads
# kind: mistake
# breaks: values

def transpose_output(X, num_heads):
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2])
    X = X.permute(0, 2, 3, 1)
    return X.reshape(X.shape[0], X.shape[1], -1)
