# exercise: kernel_regression
# says: adds the query to the prediction
# kind: mistake
# breaks: values, gradients

import torch

def kernel_regression(queries, keys, values, w=1.0):
    a = torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)
    y_hat = a @ values
    return queries + y_hat
