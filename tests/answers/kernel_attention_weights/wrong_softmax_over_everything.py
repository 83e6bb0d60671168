# exercise: kernel_attention_weights
# says: one softmax over the whole table
# kind: mistake
# breaks: values, gradients

import torch

def kernel_attention_weights(queries, keys, w=1.0):
    T, S = queries.numel(), keys.numel()
    s = -((queries.view(T, 1) - keys.view(1, S)) * w) ** 2 / 2
    return torch.softmax(s.flatten(), dim=0).view(T, S)
