# exercise: shift_matrix
# says: two by two blocks written in a loop
# kind: same
# breaks:

import math
import torch

def shift_matrix(delta, num_hiddens):
    """[sin w(i+d), cos w(i+d)] = [[cos wd, sin wd], [-sin wd, cos wd]] [sin wi, cos wi]"""
    M = torch.zeros((num_hiddens, num_hiddens))
    for j in range(num_hiddens // 2):
        wd = delta / math.pow(10000, 2 * j / num_hiddens)
        M[2 * j, 2 * j] = math.cos(wd)
        M[2 * j, 2 * j + 1] = math.sin(wd)
        M[2 * j + 1, 2 * j] = -math.sin(wd)
        M[2 * j + 1, 2 * j + 1] = math.cos(wd)
    return M
