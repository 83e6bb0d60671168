# exercise: shift_matrix
# says: the right matrix for -delta
# kind: mistake
# breaks: values

import torch
import numpy as np

def shift_matrix(delta, num_hiddens):
    delta = -delta
    blocks = []
    for j in range(0, num_hiddens, 2):
        a = delta / np.power(10000, j / num_hiddens)
        blocks.append(torch.tensor([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]))
    return torch.block_diag(*blocks)
