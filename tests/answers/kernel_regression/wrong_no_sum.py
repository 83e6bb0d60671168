# exercise: kernel_regression
# says: multiplies weights and values but does not sum over the keys
# kind: mistake
# breaks: shapes, values

import torch

def kernel_regression(queries, keys, values, w=1.0):
    a = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    return a * values[None, :]
