# exercise: shift_matrix
# says: exponent j/D with j = 0, 1, 2, …
# kind: mistake
# breaks: values

import torch

def shift_matrix(delta, num_hiddens):
    M = torch.zeros((num_hiddens, num_hiddens))
    for j in range(num_hiddens // 2):
        angle = torch.tensor(float(delta)) / 10000 ** (j / num_hiddens)
        M[2*j:2*j+2, 2*j:2*j+2] = torch.stack([
            torch.stack([angle.cos(), angle.sin()]),
            torch.stack([-angle.sin(), angle.cos()])])
    return M
