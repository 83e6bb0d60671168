# exercise: kernel_regression
# says: multiplies with the transposed weights, so only T = S runs
# kind: mistake
# breaks: values, gradients

import torch

def kernel_regression(queries, keys, values, w=1.0):
    scores = -((queries.reshape(-1, 1) - keys.reshape(1, -1)) * w).pow(2) / 2
    weights = scores.softmax(dim=1)
    return weights.T @ values
