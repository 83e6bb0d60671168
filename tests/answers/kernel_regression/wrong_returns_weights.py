# exercise: kernel_regression
# says: stops at the weights
# kind: mistake
# breaks: shapes, values

import torch

def kernel_regression(queries, keys, values, w=1.0):
    a = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    values = a @ values
    return a
