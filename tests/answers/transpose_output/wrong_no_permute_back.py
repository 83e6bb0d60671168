# exercise: transpose_output
# says: merges heads without permuting back
# kind: mistake
# breaks: values

def transpose_output(X, num_heads):
    BH, T, d = X.shape
    return X.reshape(BH // num_heads, T, num_heads * d)
