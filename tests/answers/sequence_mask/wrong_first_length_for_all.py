# exercise: sequence_mask
# says: uses the first length for every row
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    n = int(valid_len[0])
    X = X.clone()
    X[:, n:] = value
    return X
