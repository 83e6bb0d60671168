# exercise: transpose_output
# says: view on the permuted tensor without contiguous, raises
# kind: mistake
# breaks: values

def transpose_output(X, num_heads):
    b = X.shape[0] // num_heads
    X = X.view(b, num_heads, X.shape[1], X.shape[2]).transpose(1, 2)
    return X.view(b, X.shape[1], -1)
