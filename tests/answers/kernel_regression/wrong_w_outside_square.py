# exercise: kernel_regression
# says: multiplies by w after squaring
# kind: mistake
# breaks: values, gradients

import torch

def kernel_regression(queries, keys, values, w=1.0):
    alpha = torch.softmax(-((queries[:, None] - keys[None, :]) ** 2 * w) / 2, dim=-1)
    return torch.matmul(alpha, values)
