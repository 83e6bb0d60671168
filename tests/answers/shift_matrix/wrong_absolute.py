# exercise: shift_matrix
# says: abs(delta): never shifts back
# kind: mistake
# breaks: values

import torch

def shift_matrix(delta, num_hiddens):
    w = 10000.0 ** (-torch.arange(0, num_hiddens, 2) / num_hiddens)
    a = abs(delta) * w
    return torch.block_diag(*[torch.tensor([[x.cos(), x.sin()], [-x.sin(), x.cos()]]) for x in a])
