# exercise: kernel_attention_weights
# says: scores by the product of query and key instead of their distance
# kind: mistake
# breaks: values, gradients

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    scores = torch.outer(queries, keys) * w
    return torch.softmax(-scores**2 / 2, dim=-1)
