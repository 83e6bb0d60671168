# exercise: kernel_attention_weights
# says: divides by w as a bandwidth instead of multiplying
# kind: different
# breaks: values, gradients

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    """w is the width of the window."""
    dist = (queries.view(-1, 1) - keys.view(1, -1)) / w
    return torch.softmax(-dist**2 / 2, dim=1)
