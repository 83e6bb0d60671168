# exercise: kernel_regression
# says: predicts the mean of the values everywhere
# kind: mistake
# breaks: values, gradients

import torch

def kernel_regression(queries, keys, values, w=1.0):
    # every query gets the average
    y = values.mean()
    return y.repeat(queries.shape[0])
