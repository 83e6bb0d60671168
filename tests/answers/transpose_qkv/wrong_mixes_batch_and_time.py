# exercise: transpose_qkv
# says: permutes the batch axis instead of the step axis
# kind: mistake
# breaks: values

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    X = X.reshape(B, T, num_heads, D // num_heads)
    X = X.permute(2, 1, 0, 3)
    return X.reshape(B * num_heads, T, D // num_heads)
