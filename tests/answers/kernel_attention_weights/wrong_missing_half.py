# exercise: kernel_attention_weights
# says: leaves out the 1/2 of the Gaussian
# kind: mistake
# breaks: values, gradients

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    diff = queries[:, None] - keys[None, :]
    return torch.softmax(-(diff * w) ** 2, dim=-1)
