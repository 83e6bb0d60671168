# exercise: shift_matrix
# says: transposed: shifts backwards
# kind: mistake
# breaks: values

import torch

def shift_matrix(delta, num_hiddens):
    M = torch.zeros(num_hiddens, num_hiddens)
    for j in range(num_hiddens // 2):
        w = 1 / 10000 ** (2 * j / num_hiddens)
        c, s = torch.cos(torch.tensor(delta * w)), torch.sin(torch.tensor(delta * w))
        M[2 * j, 2 * j], M[2 * j, 2 * j + 1] = c, -s
        M[2 * j + 1, 2 * j], M[2 * j + 1, 2 * j + 1] = s, c
    return M
