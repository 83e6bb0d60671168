# exercise: shift_matrix
# says: block_diag, float64
# kind: same
# breaks:

import torch

def shift_matrix(delta, num_hiddens):
    angles = delta * 10000.0 ** (-torch.arange(0, num_hiddens, 2, dtype=torch.float64) / num_hiddens)
    blocks = [torch.stack((torch.stack((a.cos(), a.sin())), torch.stack((-a.sin(), a.cos())))) for a in angles]
    return torch.block_diag(*blocks)
