# exercise: kernel_regression
# says: sums kernel times value without dividing by the kernel sum
# kind: mistake
# breaks: values, gradients

import torch

def kernel_regression(queries, keys, values, w=1.0):
    out = torch.zeros_like(queries)
    for k, v in zip(keys, values):
        out = out + torch.exp(-((queries - k) * w) ** 2 / 2) * v
    return out
