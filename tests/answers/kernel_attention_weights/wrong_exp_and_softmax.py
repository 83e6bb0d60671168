# exercise: kernel_attention_weights
# says: takes the exponential first and then softmax again
# kind: mistake
# breaks: values, gradients

import torch

def gaussian(u):
    return torch.exp(-u**2 / 2)

def kernel_attention_weights(queries, keys, w=1.0):
    K = gaussian((queries[:, None] - keys[None, :]) * w)
    return torch.softmax(K, dim=1)
