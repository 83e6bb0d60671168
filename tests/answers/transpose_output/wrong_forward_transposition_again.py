# exercise: transpose_output
# says: calls the forward split a second time
# kind: mistake
# breaks: values

def split_heads(X, num_heads):
    X = X.reshape(X.shape[0], X.shape[1], num_heads, -1).permute(0, 2, 1, 3)
    return X.reshape(-1, X.shape[2], X.shape[3])

def transpose_output(X, num_heads):
    # do the same thing backwards
    return split_heads(X, num_heads)
