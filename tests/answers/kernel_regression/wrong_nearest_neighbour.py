# exercise: kernel_regression
# says: takes the value of the nearest key only
# kind: mistake
# breaks: values, gradients

import torch

def kernel_regression(queries, keys, values, w=1.0):
    nearest = ((queries[:, None] - keys[None, :]) * w).abs().argmin(dim=1)
    return values[nearest]
