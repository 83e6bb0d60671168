# exercise: kernel_attention_weights
# says: uses a triangular kernel instead of the Gaussian
# kind: different
# breaks: values, gradients

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    u = (queries[:, None] - keys[None, :]) * w
    k = torch.clamp(1 - u.abs() / 8, min=0) + 1e-9
    return k / k.sum(1, keepdim=True)
