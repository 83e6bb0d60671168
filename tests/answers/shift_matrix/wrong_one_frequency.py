# exercise: shift_matrix
# says: every pair turns with the first frequency
# kind: mistake
# breaks: values

import torch, math

def shift_matrix(delta, num_hiddens):
    block = torch.tensor([[math.cos(delta), math.sin(delta)], [-math.sin(delta), math.cos(delta)]])
    return torch.kron(torch.eye(num_hiddens // 2), block)
