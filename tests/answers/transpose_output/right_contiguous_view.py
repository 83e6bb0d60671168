# exercise: transpose_output
# says: transpose, contiguous, view
# kind: same
# breaks:

def transpose_output(X, num_heads):
    bh, T, d = X.size()
    b = bh // num_heads
    return X.reshape(b, num_heads, T, d).transpose(1, 2).contiguous().view(b, T, num_heads * d)
