# exercise: shift_matrix
# says: cos a ≈ 1 and sin a ≈ a
# kind: mistake
# breaks: values

import torch

def shift_matrix(delta, num_hiddens):
    M = torch.eye(num_hiddens)
    for j in range(0, num_hiddens, 2):
        a = delta / 10000 ** (j / num_hiddens)
        M[j, j + 1] = a
        M[j + 1, j] = -a
    return M
