# exercise: sequence_mask
# says: keeps one step too few
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    X = X.clone()
    for i, n in enumerate(valid_len.tolist()):
        X[i, n - 1:] = value
    return X
