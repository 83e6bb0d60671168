# exercise: kernel_regression
# says: leaves out the 1/2 of the Gaussian
# kind: mistake
# breaks: values, gradients

import torch
import torch.nn.functional as F

def kernel_regression(queries, keys, values, w=1.0):
    diff = (queries[:, None] - keys[None, :]) * w
    return F.softmax(-diff ** 2, dim=-1) @ values
