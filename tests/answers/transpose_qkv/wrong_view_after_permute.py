# exercise: transpose_qkv
# says: view on the permuted tensor without contiguous, raises
# kind: mistake
# breaks: values

def transpose_qkv(X, num_heads):
    B, T, D = X.shape
    X = X.view(B, T, num_heads, D // num_heads).permute(0, 2, 1, 3)
    return X.view(B * num_heads, T, D // num_heads)
