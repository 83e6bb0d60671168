# exercise: transpose_output
# says: detaches the heads
# kind: mistake
# breaks: gradients

def transpose_output(X, num_heads):
    n, t, d = X.detach().shape
    X = X.detach().reshape(n // num_heads, num_heads, t, d)
    return X.transpose(1, 2).reshape(n // num_heads, t, num_heads * d)
