# exercise: kernel_regression
# says: local linear regression instead of a local average
# kind: different
# breaks: values, gradients

import torch

def kernel_regression(queries, keys, values, w=1.0):
    a = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    x_bar = a @ keys
    y_bar = a @ values
    cov = (a * (keys - x_bar[:, None]) * (values - y_bar[:, None])).sum(1)
    var = (a * (keys - x_bar[:, None]) ** 2).sum(1) + 1e-6
    return y_bar + cov / var * (queries - x_bar)
