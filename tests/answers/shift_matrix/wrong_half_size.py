# exercise: shift_matrix
# says: (D/2, D/2): one entry per pair
# kind: mistake
# breaks: shapes, values

import torch

def shift_matrix(delta, num_hiddens):
    w = 10000.0 ** (-torch.arange(0, num_hiddens, 2) / num_hiddens)
    return torch.diag(torch.cos(delta * w))
