# exercise: shift_matrix
# says: layout of halves, not of pairs
# kind: different
# breaks: values

import torch

def shift_matrix(delta, num_hiddens):
    w = 10000 ** (-torch.arange(0, num_hiddens, 2) / num_hiddens)
    C, S = torch.diag(torch.cos(delta * w)), torch.diag(torch.sin(delta * w))
    return torch.cat((torch.cat((C, S), dim=1), torch.cat((-S, C), dim=1)), dim=0)
