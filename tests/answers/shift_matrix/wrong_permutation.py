# exercise: shift_matrix
# says: a cyclic permutation of the features
# kind: mistake
# breaks: values

import torch

def shift_matrix(delta, num_hiddens):
    return torch.roll(torch.eye(num_hiddens), delta, dims=0)
