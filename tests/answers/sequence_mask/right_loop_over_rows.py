# exercise: sequence_mask
# says: cuts and fills row by row
# kind: same
# breaks:

import torch

def sequence_mask(X, valid_len, value=0):
    Y = X.clone()
    for i in range(len(valid_len)):
        Y[i, int(valid_len[i]):] = value
    return Y
