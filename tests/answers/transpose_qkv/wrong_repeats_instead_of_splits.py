# exercise: transpose_qkv
# says: gives every head all the features
# kind: mistake
# breaks: shapes, values

def transpose_qkv(X, num_heads):
    # one copy for each head
    return X.repeat_interleave(num_heads, dim=0)
