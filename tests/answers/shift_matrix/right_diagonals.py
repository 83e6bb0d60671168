# exercise: shift_matrix
# says: three diagonals
# kind: same
# breaks:

import torch

def shift_matrix(delta, num_hiddens):
    w = torch.repeat_interleave(10000 ** (-torch.arange(0, num_hiddens, 2) / num_hiddens), 2)
    on_sine_rows = (torch.arange(num_hiddens - 1) % 2 == 0).float()
    s = torch.sin(delta * w)[:-1] * on_sine_rows
    return torch.diag(torch.cos(delta * w)) + torch.diag(s, 1) - torch.diag(s, -1)
