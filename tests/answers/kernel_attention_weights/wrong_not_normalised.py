# exercise: kernel_attention_weights
# says: returns the Gaussian kernel without normalising
# kind: mistake
# breaks: values, gradients

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    u = (queries[:, None] - keys) * w
    kernel = torch.exp(-0.5 * u * u)
    return kernel
