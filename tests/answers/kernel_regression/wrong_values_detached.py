# exercise: kernel_regression
# says: reads values.data, which get no gradient
# kind: mistake
# breaks: gradients

import torch

def kernel_regression(queries, keys, values, w=1.0):
    alpha = (-((queries[:, None] - keys[None, :]) * w) ** 2 / 2).softmax(-1)
    return alpha.mv(values.data)
