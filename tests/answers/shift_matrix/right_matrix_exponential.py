# exercise: shift_matrix
# says: exponential of the generator of rotations
# kind: same
# breaks:

import torch

def shift_matrix(delta, num_hiddens):
    even = torch.arange(0, num_hiddens, 2)
    w = 10000 ** (-even.double() / num_hiddens)
    G = torch.zeros(num_hiddens, num_hiddens, dtype=torch.float64)
    G[even, even + 1], G[even + 1, even] = w, -w
    return torch.linalg.matrix_exp(delta * G).float()
