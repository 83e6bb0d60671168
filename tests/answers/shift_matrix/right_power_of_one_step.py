# exercise: shift_matrix
# says: one step, raised to the power delta
# kind: same
# breaks:

import torch

def shift_matrix(delta, num_hiddens):
    one = torch.zeros(num_hiddens, num_hiddens, dtype=torch.float64)
    for a in range(0, num_hiddens, 2):
        w = torch.tensor(10000.0 ** (-a / num_hiddens), dtype=torch.float64)
        one[a:a + 2, a:a + 2] = torch.tensor([[w.cos(), w.sin()], [-w.sin(), w.cos()]])
    if delta < 0:
        one, delta = one.T, -delta       # a rotation: its transpose turns back
    return torch.linalg.matrix_power(one, delta)
