# exercise: shift_matrix
# says: minus sign forgotten
# kind: mistake
# breaks: values

import torch

def shift_matrix(delta, num_hiddens):
    w = torch.pow(10000, -torch.arange(0, num_hiddens, 2).float() / num_hiddens)
    s, c = (delta * w).sin(), (delta * w).cos()
    M = torch.zeros(num_hiddens, num_hiddens)
    even = torch.arange(0, num_hiddens, 2)
    M[even, even] = c
    M[even, even + 1] = s
    M[even + 1, even] = s
    M[even + 1, even + 1] = c
    return M
