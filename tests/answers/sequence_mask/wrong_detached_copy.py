# exercise: sequence_mask
# says: works on a detached copy, so X gets no gradient
# kind: mistake
# breaks: gradients

import torch

def sequence_mask(X, valid_len, value=0):
    Y = X.detach().clone()   # leave X alone
    for row, n in zip(Y, valid_len):
        row[int(n):] = value
    return Y
