# exercise: sequence_mask
# says: blanks only the first padded step
# kind: mistake
# breaks: values

import torch

def sequence_mask(X, valid_len, value=0):
    X = X.clone()
    for i in range(X.shape[0]):
        if valid_len[i] < X.shape[1]:
            X[i, valid_len[i]] = value
    return X
