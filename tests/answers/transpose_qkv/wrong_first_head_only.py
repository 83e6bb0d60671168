# exercise: transpose_qkv
# says: gives every head the first block of features
# kind: mistake
# breaks: values

def transpose_qkv(X, num_heads):
    d = X.shape[-1] // num_heads
    return X[..., :d].repeat_interleave(num_heads, dim=0)
