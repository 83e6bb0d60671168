# exercise: kernel_attention_weights
# says: uses the absolute distance (Laplace kernel) instead of the square
# kind: different
# breaks: values, gradients

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    dist = torch.abs((queries.unsqueeze(-1) - keys) * w)
    return torch.softmax(-dist / 2, -1)
