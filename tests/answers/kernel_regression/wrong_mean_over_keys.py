# exercise: kernel_regression
# says: takes the mean over the keys instead of the sum
# kind: mistake
# breaks: values, gradients

import torch

def kernel_regression(queries, keys, values, w=1.0):
    a = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    return torch.mean(a * values, dim=1)
