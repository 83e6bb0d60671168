# exercise: kernel_attention_weights
# says: divides by the largest weight instead of the sum
# kind: mistake
# breaks: values, gradients

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    K = torch.exp(-((queries[:, None] - keys[None, :]) * w)**2 / 2)
    return K / K.max(dim=1, keepdim=True).values
