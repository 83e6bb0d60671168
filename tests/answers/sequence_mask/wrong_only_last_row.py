# exercise: sequence_mask
# says: returns from inside the loop, so only the first row is masked
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    X = X.clone()
    for i, n in enumerate(valid_len):
        X[i, n:] = value
        return X
