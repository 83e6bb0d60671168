# exercise: kernel_regression
# says: does not pass w to the weights
# kind: mistake
# breaks: values, gradients

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    return torch.softmax(-((queries[:, None] - keys[None, :]) * w) ** 2 / 2, dim=-1)

def kernel_regression(queries, keys, values, w=1.0):
    attention_weights = kernel_attention_weights(queries, keys)
    return attention_weights @ values
