# exercise: shift_matrix
# says: outer product P[delta] P[0]ᵀ: right for i = 0 only up to scale
# kind: mistake
# breaks: values

import torch

def shift_matrix(delta, num_hiddens):
    def row(i):
        a = i / 10000 ** (torch.arange(0, num_hiddens, 2) / num_hiddens)
        return torch.stack((a.sin(), a.cos()), 1).flatten()
    p, q = row(0), row(delta)
    return torch.outer(q, p) / p.dot(p)
