# exercise: kernel_regression
# says: normalises over the queries
# kind: mistake
# breaks: values, gradients

import torch

def kernel_regression(queries, keys, values, w=1.0):
    s = -((queries[:, None] - keys) * w) ** 2 / 2
    alpha = torch.softmax(s, 0)
    return alpha @ values
