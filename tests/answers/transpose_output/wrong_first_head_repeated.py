# exercise: transpose_output
# says: takes the first head for all of them
# kind: mistake
# breaks: values

def transpose_output(X, num_heads):
    return X[::num_heads].repeat(1, 1, num_heads)
