# exercise: shift_matrix
# says: sine and cosine exchanged
# kind: mistake
# breaks: values

import torch

def shift_matrix(delta, num_hiddens):
    M = torch.zeros(num_hiddens, num_hiddens)
    for j in range(0, num_hiddens, 2):
        t = torch.tensor(delta / 10000 ** (j / num_hiddens))
        M[j:j + 2, j:j + 2] = torch.tensor([[t.sin(), t.cos()], [t.cos(), -t.sin()]])
    return M
