# exercise: transpose_output
# says: concatenates the heads in reverse order
# kind: different
# breaks: values

import torch

def transpose_output(X, num_heads):
    X = X.reshape(-1, num_heads, X.shape[1], X.shape[2]).flip(1)
    return X.permute(0, 2, 1, 3).flatten(2)
