# exercise: shift_matrix
# says: the identity
# kind: mistake
# breaks: values

import torch

def shift_matrix(delta, num_hiddens):
    """Shifting does not change the vector."""
    return torch.eye(num_hiddens)
