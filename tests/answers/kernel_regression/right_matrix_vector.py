# exercise: kernel_regression
# says: weights times values as one product
# kind: same
# breaks:

import torch

def kernel_regression(queries, keys, values, w=1.0):
    alpha = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    return alpha @ values
