# exercise: shift_matrix
# says: base 1000
# kind: mistake
# breaks: values

import torch
from math import cos, sin

def shift_matrix(delta, num_hiddens):
    D = num_hiddens
    rows = [[0.] * D for _ in range(D)]
    for j in range(D // 2):
        a = delta * 1000 ** (-2 * j / D)
        rows[2*j][2*j] = rows[2*j+1][2*j+1] = cos(a)
        rows[2*j][2*j+1] = sin(a)
        rows[2*j+1][2*j] = -sin(a)
    return torch.tensor(rows)
