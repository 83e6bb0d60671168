# exercise: transpose_qkv
# says: works on X.data, which gets no gradient
# kind: mistake
# breaks: gradients

def transpose_qkv(X, num_heads):
    X = X.data.reshape(X.shape[0], X.shape[1], num_heads, -1).transpose(1, 2)
    return X.reshape(-1, X.shape[2], X.shape[3])
